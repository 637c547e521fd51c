"""Makes crates/cli/tests/data/patients.csv: 240 invented patients, for the examples of
docs/formulas.md and docs/analyses.md. Usage: python3 scripts/oracles/patients.py > FILE"""

import datetime
import math
import random

rng = random.Random(24)
effects = {"Bergen": 0.0, "Oslo": 0.3, "Trondheim": -0.2}
wards = {"Bergen": ["b1", "b2"], "Oslo": ["o1", "o2"], "Trondheim": ["t1", "t2"]}


def poisson(mean):
    left, count = math.exp(-mean), 0
    product = rng.random()
    while product > left:
        count, product = count + 1, product * rng.random()
    return count


print("age,band,sex,city,ward,group,dose,bmi,visits,years,improved,healed,sores,pain,weeks,status,admitted,weight")
for _ in range(240):
    age = rng.randint(18, 89)
    band = "<25" if age < 25 else "25-49" if age < 50 else "50-74" if age < 75 else "75+"
    sex = rng.choice("fm")
    city = rng.choice(list(effects))
    ward = rng.choice(wards[city])
    group = rng.choice([1, 2, 3, 4])
    dose = rng.choice([0, 5, 10, 20, 40])
    bmi = round(rng.gauss(26, 4), 1)
    years = round(rng.uniform(0.2, 5), 2)
    rate = math.exp(0.4 + 0.01 * (age - 50) - 0.02 * dose + effects[city])
    visits = poisson(rate * years * rng.gammavariate(3, 1 / 3))
    score = -1 + 0.05 * dose + 0.02 * (age - 50) + (0.5 if sex == "f" else 0) - 0.001 * (age - 50) ** 2
    improved = int(rng.random() < 1 / (1 + math.exp(-score)))
    sores = rng.randint(3, 12)
    heal = 1 / (1 + math.exp(-(-0.5 + 0.04 * dose + [0, 0.6, -0.4, 0.2][group - 1])))
    healed = sum(rng.random() < heal for _ in range(sores))
    latent = 0.03 * (age - 50) - 0.05 * dose + math.log(1 / rng.random() - 1)
    pain = "none" if latent < -1 else "mild" if latent < 1 else "severe"
    death = rng.weibullvariate(60 * math.exp(0.02 * dose - 0.02 * (age - 50)), 1.4)
    end = rng.uniform(10, 120)
    weeks, status = (round(death, 1), "dead") if death < end else (round(end, 1), "alive")
    admitted = datetime.date(2023, 1, 1) + datetime.timedelta(days=rng.randrange(700))
    weight = rng.choice([0, 1, 1, 1, 2])
    print(f"{age},{band},{sex},{city},{ward},{group},{dose},{bmi},{visits},{years},{improved},{healed},{sores},{pain},"
          f"{max(weeks, 0.1)},{status},{admitted},{weight}")

#!/usr/bin/env python3
"""Simulates the data sets of crates/fit/tests/data/families.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6
    venv/bin/python scripts/oracles/data.py crates/fit/tests/data/families

Writes one CSV file per data set into the given directory. All data are made up, from fixed seeds,
with predictors in awkward units: calendar years, incomes, tiny concentrations, text columns and
correlated columns. The response comes first, then the predictors, then columns such as `event`.
Numbers have at most 6 significant digits. The one real data set is stackloss.csv: the 21 rows of
K. A. Brownlee, Statistical Theory and Methodology (1965), in the public domain.
"""
import csv
import pathlib
import sys

import numpy

STACKLOSS = """
42 80 27 89, 37 80 27 88, 37 75 25 90, 28 62 24 87, 18 62 22 87, 18 62 23 87, 19 62 24 93,
20 62 24 93, 15 58 23 87, 14 58 18 80, 14 58 18 89, 13 58 17 88, 11 58 18 82, 12 58 19 93,
8 50 18 89, 7 50 18 86, 8 50 19 72, 8 50 19 79, 9 50 20 80, 15 56 20 82, 15 70 20 91
"""


def text(value):
    """A field of the file: text as it is, numbers with 6 significant digits, NaN left empty."""
    if isinstance(value, str):
        return value
    return "" if numpy.isnan(value) else f"{float(value):.6g}"


def write(folder, name, columns):
    with open(folder / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([text(value) for value in row] for row in zip(*columns.values()))


def rounded(values):
    """What a reader of the file gets, so that responses follow from the predictors as written."""
    return numpy.array([float(text(value)) for value in values])


def choose(generator, levels, n, weights=None):
    """A text column in which every level occurs."""
    drawn = generator.choice(levels, size=n, p=weights)
    drawn[: len(levels)] = levels
    return [str(level) for level in drawn]


def effect(column, effects):
    return numpy.array([effects[level] for level in column])


def stackloss():
    rows = numpy.array([row.split() for row in STACKLOSS.split(",")], dtype=float)
    return dict(zip(["stack.loss", "Air.Flow", "Water.Temp", "Acid.Conc."], rows.T))


def wages(generator, n=150):
    """Gaussian noise; two correlated predictors of large scale and a factor of four levels."""
    year = generator.integers(1990, 2011, n).astype(float)
    income = rounded(numpy.exp(10.2 + 0.03 * (year - 2000) + generator.normal(0, 0.4, n)))
    region = choose(generator, ["east", "north", "south", "west"], n)
    mean = 14 + 0.35 * (year - 2000) + 1.5e-4 * (income - 3e4)
    mean += effect(region, {"east": 0, "north": 1.2, "south": -2.1, "west": 0.4})
    return {"wage": mean + generator.normal(0, 3.1, n), "year": year, "income": income,
            "region": region}


def growth(generator, n=60):
    """Gaussian noise; a two-level text column, unbalanced, and a tiny predictor."""
    dose = rounded(generator.gamma(2.0, 1.5e-5, n))
    temperature = rounded(293.15 + generator.normal(0, 4, n))
    treated = choose(generator, ["no", "yes"], n, [0.7, 0.3])
    mean = 0.02 + 120 * dose + 3e-4 * (temperature - 293) + effect(treated, {"no": 0, "yes": 0.004})
    return {"rate": mean + generator.normal(0, 0.003, n), "dose": dose,
            "temperature": temperature, "treated": treated}


def resistance(generator, n=45):
    """Gaussian noise; one predictor is nearly constant and of tiny scale."""
    thickness = rounded(3.1e-4 + generator.normal(0, 2e-7, n))
    voltage = rounded(generator.uniform(1000, 25000, n))
    humidity = rounded(40 + 1e-3 * voltage + generator.normal(0, 5, n))
    mean = 5e5 + 3e10 * (thickness - 3.1e-4) - 2.2 * voltage + 150 * humidity
    return {"resistance": mean + generator.normal(0, 8e3, n), "thickness": thickness,
            "voltage": voltage, "humidity": humidity}


def prices(generator, n=120):
    """Student t noise of 3 degrees of freedom; correlated predictors and a factor."""
    year = generator.integers(1990, 2011, n).astype(float)
    area = rounded(generator.gamma(9.0, 11.0, n))
    rooms = numpy.maximum(1, numpy.round(area / 25 + generator.normal(0, 0.8, n)))
    kind = choose(generator, ["flat", "house", "loft"], n, [0.5, 0.35, 0.15])
    mean = 60 + 2.1 * area + 4 * rooms + 3.0 * (year - 2000)
    mean += effect(kind, {"flat": 0, "house": 25, "loft": 12})
    return {"price": mean + 18 * generator.standard_t(3, n), "year": year, "area": area,
            "rooms": rooms, "kind": kind}


def clocks(generator, n=60):
    """Normal noise with one row in ten shifted far away, in microseconds."""
    altitude = rounded(generator.uniform(0, 4200, n))
    pressure = rounded(1013 * numpy.exp(-altitude / 8400) + generator.normal(0, 9, n))
    mean = 3e-6 + 4e-10 * altitude + 2e-9 * (pressure - 800)
    noise = generator.normal(0, 5e-7, n)
    noise[::10] += generator.normal(0, 6e-6, len(noise[::10]))
    return {"drift": mean + noise, "altitude": altitude, "pressure": pressure}


def votes(generator, n=200):
    """0/1 response with a factor and an income."""
    income = rounded(numpy.exp(generator.normal(10.4, 0.5, n)))
    age = generator.integers(18, 90, n).astype(float)
    region = choose(generator, ["east", "north", "south"], n)
    score = -0.4 + 2e-5 * (income - 3.5e4) + 0.02 * (age - 50)
    score += effect(region, {"east": 0, "north": 0.7, "south": -0.5})
    return {"voted": (generator.logistic(size=n) < score).astype(float), "income": income,
            "age": age, "region": region}


def alarms(generator, n=90):
    """0/1 response, rarely 1, with a two-level text column."""
    current = rounded(generator.gamma(3.0, 2e-4, n))
    year = generator.integers(1995, 2006, n).astype(float)
    indoor = choose(generator, ["no", "yes"], n)
    score = -1.6 + 1500 * (current - 6e-4) + 0.1 * (year - 2000)
    score += effect(indoor, {"no": 0, "yes": -0.6})
    return {"alarm": (generator.logistic(size=n) < score).astype(float), "current": current,
            "year": year, "indoor": indoor}


def visits(generator, n=200):
    """Overdispersed counts, size 1.7, with a factor of four levels."""
    income = rounded(numpy.exp(generator.normal(10.3, 0.5, n)))
    year = generator.integers(1990, 2011, n).astype(float)
    plan = choose(generator, ["basic", "family", "none", "plus"], n)
    score = 1.1 - 1e-5 * (income - 3e4) + 0.03 * (year - 2000)
    score += effect(plan, {"basic": 0, "family": 0.5, "none": -0.4, "plus": 0.3})
    return {"visits": generator.poisson(numpy.exp(score) * generator.gamma(1.7, 1 / 1.7, n)),
            "income": income, "year": year, "plan": plan}


def claims(generator, n=80):
    """Overdispersed counts, size 3, with correlated predictors and a two-level text column."""
    mileage = rounded(generator.gamma(4.0, 4e3, n))
    hours = rounded(mileage / 48 + generator.normal(0, 60, n))
    city = choose(generator, ["no", "yes"], n)
    score = 0.4 + 4e-5 * mileage + effect(city, {"no": 0, "yes": 0.5})
    return {"claims": generator.poisson(numpy.exp(score) * generator.gamma(3.0, 1 / 3.0, n)),
            "mileage": mileage, "hours": hours, "city": city}


def costs(generator, n=160):
    """Gamma noise, shape 2.2, with a factor."""
    age = generator.integers(20, 80, n).astype(float)
    stay = rounded(generator.gamma(2.0, 2.5, n))
    ward = choose(generator, ["general", "intensive", "surgery"], n, [0.6, 0.15, 0.25])
    score = 7.2 + 0.008 * age + 0.07 * stay
    score += effect(ward, {"general": 0, "intensive": 0.9, "surgery": 0.4})
    return {"cost": numpy.exp(score) * generator.gamma(2.2, 1 / 2.2, n), "age": age, "stay": stay,
            "ward": ward}


def rain(generator, n=50):
    """Gamma noise, shape 0.9, with correlated predictors of very different scales."""
    altitude = rounded(generator.uniform(50, 2900, n))
    pressure = rounded(101325 * numpy.exp(-altitude / 8400) + generator.normal(0, 900, n))
    year = generator.integers(1990, 2011, n).astype(float)
    score = 1.0 + 3e-4 * altitude + 0.02 * (year - 2000)
    return {"rain": numpy.exp(score) * generator.gamma(0.9, 1 / 0.9, n), "altitude": altitude,
            "pressure": pressure, "year": year}


def censored(time, limit):
    """Observed times and the event column, for times cut at the limits."""
    return {"time": numpy.minimum(time, limit)}, {"event": (time <= limit).astype(float)}


def relapse(generator, n=140):
    """Weibull times in days, k = 1.4, right-censored, with a factor of three levels."""
    age = generator.integers(30, 85, n).astype(float)
    marker = rounded(numpy.exp(generator.normal(-9.5, 0.6, n)))
    therapy = choose(generator, ["a", "b", "c"], n)
    score = 6.6 - 0.012 * (age - 60) - 3000 * (marker - 9e-5)
    score += effect(therapy, {"a": 0, "b": 0.4, "c": -0.3})
    time = numpy.exp(score + numpy.log(generator.exponential(size=n)) / 1.4)
    first, last = censored(time, generator.uniform(200, 1500, n))
    return first | {"age": age, "marker": marker, "therapy": therapy} | last


def bearings(generator, n=70):
    """Log-logistic times in hours, k = 2.1, a few right-censored, with correlated predictors."""
    load = rounded(generator.uniform(12000, 48000, n))
    heat = rounded(300 + 1.5e-3 * load + generator.normal(0, 12, n))
    oiled = choose(generator, ["no", "yes"], n, [0.4, 0.6])
    score = 5.0 - 3e-5 * (load - 3e4) + effect(oiled, {"no": 0, "yes": 0.6})
    time = numpy.exp(score + generator.logistic(size=n) / 2.1)
    first, last = censored(time, numpy.full(n, 400.0))
    return first | {"load": load, "heat": heat, "oiled": oiled} | last


def between(generator, time, n):
    """Bounds of times seen exactly (a quarter) or only between visits, which start and end."""
    lower, upper = numpy.empty(n), numpy.empty(n)
    for row in range(n):
        visits = numpy.cumsum(generator.uniform(0.3, 1.0, 6)) * numpy.median(time) * 0.6
        seen = numpy.searchsorted(visits, time[row])
        lower[row] = visits[seen - 1] if seen > 0 else numpy.nan
        upper[row] = visits[seen] if seen < len(visits) else numpy.nan
        if generator.random() < 0.25:
            lower[row] = upper[row] = time[row]
    return {"lower": lower, "upper": upper}


def inspections(generator, n=120):
    """Weibull times, k = 1.8, known exactly, by intervals, and by left and right limits."""
    year = generator.integers(1990, 2011, n).astype(float)
    depth = rounded(generator.gamma(5.0, 300.0, n))
    coating = choose(generator, ["epoxy", "none", "zinc"], n)
    score = 2.4 + 0.02 * (year - 2000) - 2e-4 * (depth - 1500)
    score += effect(coating, {"epoxy": 0, "none": -0.5, "zinc": 0.25})
    time = numpy.exp(score + numpy.log(generator.exponential(size=n)) / 1.8)
    return {"year": year, "depth": depth, "coating": coating} | between(generator, time, n)


def seedlings(generator, n=90):
    """Log-normal times, sigma = 0.7, known exactly, by intervals, and by left and right limits."""
    salt = rounded(generator.gamma(2.0, 4e-4, n))
    water = rounded(generator.uniform(200, 900, n))
    shade = choose(generator, ["no", "yes"], n)
    score = 3.1 + 250 * salt - 6e-4 * water + effect(shade, {"no": 0, "yes": 0.35})
    time = numpy.exp(score + generator.normal(0, 0.7, n))
    return {"salt": salt, "water": water, "shade": shade} | between(generator, time, n)


def opinions(generator, n=180):
    """Ordered text levels, in alphabetical order, with a factor."""
    income = rounded(numpy.exp(generator.normal(10.4, 0.5, n)))
    age = generator.integers(18, 80, n).astype(float)
    region = choose(generator, ["east", "north", "south"], n)
    score = 2e-5 * (income - 3.5e4) - 0.02 * (age - 48)
    score += effect(region, {"east": 0, "north": 0.8, "south": -0.4})
    level = numpy.searchsorted([-1.2, 0.3, 1.8], score + generator.logistic(size=n))
    return {"opinion": [["bad", "fair", "good", "superb"][j] for j in level], "income": income,
            "age": age, "region": region}


def pain(generator, n=100):
    """Ordered levels 1 to 5, with correlated predictors of different scales."""
    dose = rounded(generator.gamma(3.0, 1e-4, n))
    weight = rounded(generator.normal(75, 13, n))
    pulse = rounded(50 + 0.3 * weight + generator.normal(0, 6, n))
    score = -2500 * (dose - 3e-4) + 0.04 * (pulse - 72)
    level = numpy.searchsorted([-1.5, -0.4, 0.5, 1.9], score + generator.logistic(size=n))
    return {"pain": (level + 1).astype(float), "dose": dose, "weight": weight, "pulse": pulse}


def pick(generator, levels, scores):
    """One level per row, with log odds to the first level given by the scores."""
    noisy = numpy.array(scores) + generator.gumbel(size=(len(scores), len(scores[0])))
    return [levels[j] for j in noisy.argmax(axis=0)]


def travel(generator, n=220):
    """Three unordered levels, with a factor."""
    income = rounded(numpy.exp(generator.normal(10.4, 0.4, n)))
    distance = rounded(generator.gamma(2.0, 9.0, n))
    season = choose(generator, ["autumn", "spring", "summer", "winter"], n)
    warm = effect(season, {"autumn": 0, "spring": 0.3, "summer": 0.6, "winter": -0.6})
    scores = [0 * income, 2.5e-5 * (income - 3.5e4) + 0.03 * (distance - 18) + 0.3 - warm,
              0.05 * (distance - 18) - 0.3]
    return {"mode": pick(generator, ["bus", "car", "train"], scores), "income": income,
            "distance": distance, "season": season}


def habitat(generator, n=130):
    """Four unordered levels, with correlated predictors."""
    altitude = rounded(generator.uniform(100, 2600, n))
    warmth = rounded(288 - 5.5e-3 * altitude + generator.normal(0, 2.5, n))
    scores = [0 * altitude, 6e-4 * (altitude - 1300), 0.15 * (warmth - 280) + 0.4,
              -4e-4 * (altitude - 1300) - 0.2]
    return {"habitat": pick(generator, ["bog", "forest", "heath", "meadow"], scores),
            "altitude": altitude, "warmth": warmth}


def germination(generator, n=48):
    """Successes out of trials; a factor of three levels and a curved predictor."""
    warmth = rounded(generator.uniform(5, 35, n))
    soil = choose(generator, ["clay", "loam", "sand"], n)
    seeds = generator.integers(4, 31, n).astype(float)
    score = 0.8 - 0.012 * (warmth - 20) ** 2 + 0.02 * (warmth - 20)
    score += effect(soil, {"clay": 0, "loam": 0.7, "sand": -0.5})
    germinated = generator.binomial(seeds.astype(int), 1 / (1 + numpy.exp(-score)))
    return {"germinated": germinated.astype(float), "seeds": seeds, "warmth": warmth, "soil": soil}


def accidents(generator, n=60):
    """Poisson counts with an exposure; a factor whose effect depends on a predictor."""
    hours = rounded(generator.gamma(4.0, 60.0, n))
    traffic = rounded(generator.gamma(6.0, 900.0, n))
    weather = choose(generator, ["dry", "snow", "wet"], n)
    rate = -4.2 + 1.5e-4 * (traffic - 5400) + effect(weather, {"dry": 0, "snow": 0.8, "wet": 0.3})
    rate += effect(weather, {"dry": 0, "snow": -1e-4, "wet": 1e-4}) * (traffic - 5400)
    return {"accidents": generator.poisson(hours * numpy.exp(rate)).astype(float),
            "hours": hours, "traffic": traffic, "weather": weather}


def assays(generator, n=40):
    """Normal noise; rows are means of several readings, whose numbers are weights."""
    dose = rounded(generator.uniform(0, 12, n))
    lab = choose(generator, ["a", "b"], n)
    readings = generator.integers(1, 6, n).astype(float)
    mean = 3 + 0.4 * dose + effect(lab, {"a": 0, "b": 0.9})
    return {"reading": mean + generator.normal(0, 1.1, n) / numpy.sqrt(readings), "dose": dose,
            "lab": lab, "readings": readings}


SETS = [wages, growth, resistance, prices, clocks, votes, alarms, visits, claims, costs, rain,
        relapse, bearings, inspections, seedlings, opinions, pain, travel, habitat, germination,
        accidents, assays]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "stackloss.csv", stackloss())
    for seed, simulate in enumerate(SETS, start=1):
        generator = numpy.random.default_rng(19650 + seed)
        write(folder, f"{simulate.__name__}.csv", simulate(generator))


if __name__ == "__main__":
    main()

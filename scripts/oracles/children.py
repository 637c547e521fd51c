"""Makes crates/cli/tests/data/children.csv: the weights of 20 invented children at some weeks after
birth, for the examples of groups.

    python3 scripts/oracles/children.py > crates/cli/tests/data/children.csv
"""

import random

CHILDREN = "Ada Ben Cleo Dan Eva Finn Gus Hana Ida Jon Kai Lea Max Nils Ole Pia Rut Sam Tim Uma".split()
GIRLS = {"Ada", "Cleo", "Eva", "Hana", "Ida", "Kai", "Lea", "Pia", "Rut", "Uma"}

rng = random.Random(11)
print("child,week,sex,weight")
for child in CHILDREN:
    z = rng.gauss(0, 1)
    at_birth = 3.4 + 0.45 * z
    growth = 0.19 + 0.035 * (0.5 * z + 0.87 * rng.gauss(0, 1))
    boy = child not in GIRLS
    for week in sorted(rng.sample(range(0, 25, 2), rng.choice([3, 5, 7]))):
        weight = at_birth + growth * week + 0.15 * boy + rng.gauss(0, 0.22)
        print(f"{child},{week},{'boy' if boy else 'girl'},{weight:.2f}")

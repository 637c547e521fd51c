import arviz as az
import bambi as bmb
import pandas as pd

costs = pd.read_csv("costs.csv")
model = bmb.Model(
    "cost ~ age + stay + ward",
    costs,
    family="gamma",
    link="log",
    priors={
        "Intercept": bmb.Prior("Normal", mu=8, sigma=2.5),
        "common": bmb.Prior("Normal", mu=0, sigma=1),
        "alpha": bmb.Prior("Exponential", lam=1),
    },
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

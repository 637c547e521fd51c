import arviz as az
import bambi as bmb
import pandas as pd

wages = pd.read_csv("wages.csv")
model = bmb.Model(
    "wage ~ year + income + region",
    wages,
    family="gaussian",
    priors={
        "Intercept": bmb.Prior("Normal", mu=15, sigma=10),
        "year": bmb.Prior("Normal", mu=0, sigma=1),
        "income": bmb.Prior("Normal", mu=0, sigma=0.001),
        "region": bmb.Prior("Normal", mu=0, sigma=10),
        "sigma": bmb.Prior("Exponential", lam=0.2),
    },
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

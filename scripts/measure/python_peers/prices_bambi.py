import arviz as az
import bambi as bmb
import pandas as pd

prices = pd.read_csv("prices.csv")
model = bmb.Model(
    "price ~ year + area + rooms + kind",
    prices,
    family="t",
    priors={
        "Intercept": bmb.Prior("Normal", mu=300, sigma=200),
        "common": bmb.Prior("Normal", mu=0, sigma=50),
        "sigma": bmb.Prior("Exponential", lam=0.02),
    },
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

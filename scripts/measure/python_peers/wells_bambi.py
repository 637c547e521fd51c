import arviz as az
import bambi as bmb
import pandas as pd

wells = pd.read_csv("wells.csv")
model = bmb.Model(
    "switched ~ dist100 * log(arsenic)",
    wells,
    family="bernoulli",
    priors={
        "Intercept": bmb.Prior("Normal", mu=0, sigma=2.5),
        "common": bmb.Prior("Normal", mu=0, sigma=2.5),
    },
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

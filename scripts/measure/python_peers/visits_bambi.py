import arviz as az
import bambi as bmb
import pandas as pd

patients = pd.read_csv("patients.csv")
model = bmb.Model(
    "visits ~ age + dose + city + offset(log(years))",
    patients,
    family="negativebinomial",
    priors={
        "Intercept": bmb.Prior("Normal", mu=0, sigma=2.5),
        "common": bmb.Prior("Normal", mu=0, sigma=1),
        "alpha": bmb.Prior("Exponential", lam=1),
    },
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

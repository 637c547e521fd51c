import arviz as az
import bambi as bmb
import pandas as pd

patients = pd.read_csv("patients.csv")
levels = ["none", "mild", "severe"]
patients["pain"] = pd.Categorical(patients["pain"], levels, ordered=True)
model = bmb.Model(
    "pain ~ center(dose) + center(age)",
    patients,
    family="cumulative",
    priors={"common": bmb.Prior("Normal", mu=0, sigma=1)},
)
idata = model.fit(chains=4, cores=2, random_seed=1)
print(az.summary(idata))

import pandas as pd
import ridgewalk as rw

patients = pd.read_csv("patients.csv")
fit = rw.fit(
    "pain ~ center(dose) + center(age)",
    patients,
    family="ordinal",
    levels=["none", "mild", "severe"],
    prior="normal(0, 1)",
    priors={"none|mild": "normal(-2, 1)", "mild|severe": "normal(2, 1)"},
    seed=1,
)
print(fit.summary())

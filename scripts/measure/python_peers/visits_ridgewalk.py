import pandas as pd
import ridgewalk as rw

patients = pd.read_csv("patients.csv")
fit = rw.fit(
    "visits ~ age + dose + city + offset(log(years))",
    patients,
    family="negative-binomial",
    prior="normal(0, 1)",
    intercept_prior="normal(0, 2.5)",
    aux_prior="exponential(1)",
    seed=1,
)
print(fit.summary())

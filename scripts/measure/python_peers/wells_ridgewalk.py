import pandas as pd
import ridgewalk as rw

wells = pd.read_csv("wells.csv")
fit = rw.fit(
    "switched ~ dist100 * log(arsenic)",
    wells,
    family="logistic",
    prior="normal(0, 2.5)",
    intercept_prior="normal(0, 2.5)",
    seed=1,
)
print(fit.summary())

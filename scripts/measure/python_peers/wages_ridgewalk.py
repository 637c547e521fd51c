import pandas as pd
import ridgewalk as rw

wages = pd.read_csv("wages.csv")
fit = rw.fit(
    "wage ~ year + income + region",
    wages,
    family="gaussian",
    priors={
        "year": "normal(0, 1)",
        "income": "normal(0, 0.001)",
        "region": "normal(0, 10)",
    },
    intercept_prior="normal(15, 10)",
    aux_prior="exponential(0.2)",
    seed=1,
)
print(fit.summary())

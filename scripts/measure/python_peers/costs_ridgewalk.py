import pandas as pd
import ridgewalk as rw

costs = pd.read_csv("costs.csv")
fit = rw.fit(
    "cost ~ age + stay + ward",
    costs,
    family="gamma",
    prior="normal(0, 1)",
    intercept_prior="normal(8, 2.5)",
    aux_prior="exponential(1)",
    seed=1,
)
print(fit.summary())

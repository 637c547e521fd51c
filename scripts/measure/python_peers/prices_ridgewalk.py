import pandas as pd
import ridgewalk as rw

prices = pd.read_csv("prices.csv")
fit = rw.fit(
    "price ~ year + area + rooms + kind",
    prices,
    family="student-t",
    prior="normal(0, 50)",
    intercept_prior="normal(300, 200)",
    aux_prior="exponential(0.02)",
    seed=1,
)
print(fit.summary())

"""The table of every rate that the paper quotes: proved, measured, where."""
from .forms import fitted, power, read, table
from .tests import measured as figures_of
from .theory import coupling_powers, order_of

COUPLING = "[coupling](#mixing-on-logistic-regressions-by-coupling)"
ORDERS = "[orders](#orders-of-paths-by-the-smoothness-of-the-potential)"
MIXING = "[mixing](#mixing-on-gaussian-targets-exactly)"
START = "[start](#the-accelerated-start)"
CERTIFICATES = "[certificates.md](certificates.md)"


def on_regressions(kernel):
    _, _, in_dimension, in_accuracy = coupling_powers(read("coupling"), kernel)
    return f"logistic regressions, d: {power(*in_dimension)}; 1/ε: {power(*in_accuracy)}"


def on_rough_potentials(*kernels):
    rows = read("orders")
    found = [f"{kernel} {power(*order_of(rows, kernel, 'gradient'))}" for kernel in kernels]
    return "rough potentials, order: " + "; ".join(found)


def of_exact_trajectories(key):
    """The power of their number in one quantity, the others being those of the first row."""
    first = read("mixing")[0]
    others = [other for other in ("dimension", "accuracy", "kappa") if other != key]
    rows = [row for row in read("mixing") if row["kernel"] == "ideal-hmc"]
    rows = [row for row in rows if all(row[other] == first[other] for other in others)]
    return power(*fitted([(row[key], row["steps"]) for row in rows]))


def of_plans():
    """Powers of plans for Theorem 2, where its second term dominates."""
    found = figures_of("lyapunov", "exponents_in_accuracy_and_dimension_are_those_of_the_theorems")
    shown = lambda variable: ", ".join(
        f"{found[f'{variable}; alpha {alpha}', 'of 1/eta']:.2f}" for alpha in (3, 4, 5)
    )
    return f"plans for α = 3, 4, 5, in 1/η: d: {shown('dimension')}; 1/ε: {shown('1/accuracy')}"


def of_start():
    rows = [row for row in read("start") if row["target"] == "quadratic"]
    value = fitted([(row["kappa"], row["gradients"]) for row in rows])
    return f"quadratics, κ: {power(*value)} with the logarithm"


def of_diffusion():
    last = read("certify-diffusion")[-1]
    rate = float(last["best_rate"]) * float(last["kappa"])
    return f"certified: {rate:.2f}/κ at κ = {last['kappa']}"


def rates():
    trajectories = (
        f"Gaussians, number of trajectories: d: {of_exact_trajectories('dimension')} (a logarithm); "
        f"κ: {of_exact_trajectories('kappa')}"
    )
    rows = [
        ("ULA: d ε^(−2)", "Dalalyan 2017; Durmus and Moulines 2019", on_regressions("ula"), COUPLING),
        (
            "kinetic Langevin: d^(1/2) ε^(−1)",
            "Cheng et al. 2018; Dalalyan and Riou-Durand 2018",
            on_regressions("klmc"),
            COUPLING,
        ),
        (
            "randomized midpoint: d^(1/3) ε^(−2/3)",
            "Shen and Lee 2019",
            on_regressions("randomized-midpoint"),
            COUPLING,
        ),
        (
            "lower bound for kinetic paths: d^(1/3) ε^(−2/3), order 3/2",
            "Cao, Lu and Wang 2020",
            on_rough_potentials("randomized-midpoint", "quicsort", "should"),
            ORDERS,
        ),
        (
            "exact Hamiltonian trajectories: no d",
            "Mangoubi and Smith 2017 (κ²); Chen and Vempala 2019 (κ)",
            trajectories,
            MIXING,
        ),
        (
            "leapfrog HMC: d^(1/4) ε^(−1/2)",
            "Mangoubi and Vishnoi 2018, with conditions on the third derivative",
            on_regressions("hmc"),
            COUPLING,
        ),
        (
            "HMC by collocation: polylogarithmic in d",
            "Lee, Song and Vempala 2018, with conditions on the data",
            "not implemented",
            "",
        ),
        (
            "Algorithm 1: d^(1/4) ε^(−1/2)",
            "the paper, Theorem 1",
            on_regressions("third-order"),
            COUPLING,
        ),
        (
            "the same, Lipschitz gradient only: order 2",
            "the paper, Proposition 2",
            on_rough_potentials("third-order"),
            ORDERS,
        ),
        (
            "black boxes: d^(1/4) ε^(−1/2) + d^(1/2) ε^(−1/(α−1))",
            "the paper, Theorem 2",
            of_plans(),
            CERTIFICATES,
        ),
        ("start: √κ log(dκ) gradients", "Nesterov 2004", of_start(), START),
        (
            "diffusion: rate 1/(10κ² + 100), no d",
            "the paper, Proposition 1",
            of_diffusion(),
            CERTIFICATES,
        ),
    ]
    return table(["rate", "proved by", "measured", "where"], [list(row) for row in rows])


TABLES = {"rates": ("experiments.md", rates)}

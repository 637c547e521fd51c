# Speed of rstanarm on one mixed model: default sampler settings, 4 chains of 1000 draws after 1000 of
# warm-up, one after the other on one core.
#
#     apt-get install r-cran-rstanarm r-cran-posterior r-cran-jsonlite
#     Rscript scripts/measure/mixed.R cbpp|sleepstudy|slopes|radon|VerbAgg [SEED]
#
# Models and priors are those of scripts/oracles/mixed_models.R, data those of
# crates/fit/tests/data/mixed. Prints JSON: processor seconds of warm-up and sampling by chain, as rstan
# reports them; wall-clock seconds of the whole fit, without loading packages and data; the smallest
# bulk effective sample size over all parameters (coefficients, sigma, standard deviations, effects of
# every level; a covariance of effects is left out), and the smallest as
# scripts/measure/python_peers.py defines it; both per second.

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
root <- normalizePath(file.path(dirname(script), "..", ".."))
source(file.path(root, "scripts", "oracles", "mixed_models.R"))

# For its speed alone: the prior of its covariance cannot be stated in ridgewalk.
models$slopes <- models$sleepstudy
models$slopes$formula <- "Reaction ~ Days + (Days | Subject)"

arguments <- commandArgs(trailingOnly = TRUE)
if (!length(arguments) %in% 1:2 || !arguments[1] %in% names(models)) {
  stop("usage: Rscript mixed.R ", paste(names(models), collapse = "|"), " [SEED]")
}
seed <- if (length(arguments) == 2) as.integer(arguments[2]) else 1965L
model <- models[[arguments[1]]]
data <- read(model, file.path(root, "crates", "fit", "tests", "data", "mixed"))

started <- proc.time()[["elapsed"]]
fit <- sample(model, data, 2000, seed)
total <- proc.time()[["elapsed"]] - started
result <- c(list(name = arguments[1], seed = seed, total_seconds = total),
            speed(fit, Filter(Negate(anyNA), suppressWarnings(draws_of(model, data, fit)))),
            list(versions = versions()))
cat(toJSON(result, auto_unbox = TRUE, pretty = TRUE, digits = NA), "\n")

# Posteriors of mixed models by rstanarm: means, standard deviations and quantiles with their Monte
# Carlo errors.
#
#     apt-get install r-cran-rstanarm r-cran-posterior r-cran-jsonlite
#     Rscript scripts/oracles/mixed.R crates/fit/tests/data/mixed [MODEL ...]
#
# Reads the CSV files of DIRECTORY and writes DIRECTORY/rstanarm-MODEL.json for cbpp, sleepstudy,
# radon and VerbAgg. mixed_models.R has the models and says what rstanarm's prior of group standard
# deviations is. For gaussian models that prior is relative to sigma; their files say so in
# `relative_to_sigma`, and exact.json, made by mixed.py, has the same models under priors that are not.
# No code of ridgewalk is used.
#
# `mcse` is the Monte Carlo error of `mean`, `sd_mcse` that of `sd`, and so on, all by the posterior
# package. `default_run` is rstanarm at its default sampler settings, 4 chains of 1000 draws after
# 1000 of warm-up, one after the other on one core; the effective sample size E is the smallest over
# all parameters of the file. The reference values come from a second, longer run. R-hat must be below
# 1.01, no transition may diverge. Takes about twenty minutes on one core, VerbAgg most of it.

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "mixed_models.R"))

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 0) stop("usage: Rscript mixed.R DIRECTORY [MODEL ...]")
directory <- arguments[1]
wanted <- if (length(arguments) > 1) arguments[-1] else names(models)

summarise <- function(x) {
  result <- list(mean = mean(x), mcse = mcse_mean(x), sd = sd(x), sd_mcse = mcse_sd(x))
  for (level in c(0.05, 0.25, 0.5, 0.75, 0.95)) {
    key <- sprintf("q%02.0f", 100 * level)
    result[[key]] <- unname(quantile(x, level))
    result[[paste0(key, "_mcse")]] <- unname(mcse_quantile(x, level))
  }
  c(result, list(ess_bulk = ess_bulk(x), ess_tail = ess_tail(x), rhat = rhat(x)))
}

for (name in wanted) {
  model <- models[[name]]
  data <- read(model, directory)
  fit <- sample(model, data, 2000, seed = 1965)
  draws <- draws_of(model, data, fit)
  default_run <- speed(fit, draws)
  fit <- sample(model, data, model$iterations, seed = 1966)
  draws <- draws_of(model, data, fit)
  run <- speed(fit, draws)
  parameters <- lapply(draws, summarise)
  worst <- max(sapply(parameters, function(p) p$rhat))
  cat(sprintf("%s: R-hat %.5f, divergences %d; default run %.1f s + %.1f s, E %.0f (%s)\n", name, worst,
              run$divergences, default_run$warm_up_seconds_total,
              default_run$sampling_seconds_total, default_run$ess_bulk, default_run$slowest))
  stopifnot(worst < 1.01, run$divergences == 0)
  gaussian <- model$family == "gaussian"
  result <- list(
    made_by = paste("Rscript scripts/oracles/mixed.R crates/fit/tests/data/mixed", name),
    versions = versions(),
    name = name, data = model$data, formula = model$formula, family = model$family,
    factors = I(model$factors), priors = model$priors, intercept_at = "means",
    relative_to_sigma = gaussian,
    prior_of_group_sd = if (gaussian)
      "decov(1, 1, 1, 1): sd = tau * sigma, tau ~ gamma(1, 1); density exp(-sd / sigma) / sigma"
      else "decov(1, 1, 1, 1): sd = tau, tau ~ gamma(1, 1); density exp(-sd)",
    default_run = default_run, reference_run = run, parameters = parameters
  )
  write(toJSON(result, auto_unbox = TRUE, pretty = TRUE, digits = NA),
        file.path(directory, paste0("rstanarm-", name, ".json")))
}

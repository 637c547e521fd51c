# PSIS, LOO, WAIC, comparisons and stacking weights by R's package loo, for the tests of
# crates/diagnostics.
#
#     Rscript scripts/oracles/loo.R crates/diagnostics/tests/loo
#
# Needs R 4.2 with the packages loo (2.5.1) and jsonlite. Writes loo.json into DIRECTORY: the
# versions used, the log likelihoods (generated here and rounded so that they are short) and what
# loo computes from them. No code of ridgewalk is used. Takes a few seconds. scripts/oracles/loo.py
# adds ArviZ's numbers.

suppressMessages(library(loo))

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript loo.R DIRECTORY")

suppressWarnings(RNGversion("4.0.0"))
set.seed(20240)

short <- function(x, digits = 7) signif(x, digits)
columns <- function(m) lapply(seq_len(ncol(m)), function(i) m[, i])

# Log likelihoods, a row for each draw and a column for each observation. Log ratios are their
# negatives: those that are k times an exponential variable have a Pareto tail of shape k.
gaussian <- function(draws, y, sd = 0.3) {
  mu <- rnorm(draws, 0, sd)
  sapply(y, function(y) dnorm(y, mu, 1, log = TRUE))
}
pareto <- function(draws, shapes) sapply(shapes, function(k) -k * rexp(draws))
# At the quantiles, so that the fitted shape is near k.
spaced <- function(draws, shapes) sapply(shapes, function(k) -k * sample(qexp(ppoints(draws))))
repeated <- function(draws) {
  # As chains that reject: most values are there several times.
  cbind(rep(rnorm(draws / 4), each = 4), sample(round(rnorm(draws), 1)))
}

cases <- list(
  list(name = "well_behaved", ll = gaussian(300, c(-2, -0.5, 0, 1, 3.5)), r_eff = rep(1, 5)),
  list(name = "heavy", ll = spaced(400, c(0.3, 0.6, 0.8, 1.2)), r_eff = rep(1, 4)),
  list(name = "efficiency", ll = pareto(300, c(0.5, 0.5, 0.5)), r_eff = c(0.5, 1, 1.7)),
  list(name = "few_draws", ll = gaussian(100, c(-2, 0, 1, 2.5)), r_eff = c(0.5, 1, 1.7, 1)),
  list(name = "light", ll = cbind(runif(150), rbeta(150, 2, 3)), r_eff = c(1, 0.7)),
  list(name = "constant", ll = cbind(rep(-1.25, 100), c(rep(-2, 40), rnorm(60))), r_eff = c(1, 1)),
  list(name = "ties", ll = repeated(200), r_eff = c(0.4, 1)),
  list(name = "tail_of_four", ll = gaussian(20, c(0, 1)), r_eff = c(1, 1)),
  list(name = "tail_of_five", ll = gaussian(21, c(0, 1)), r_eff = c(1, 1)),
  list(name = "wide", ll = cbind(200 * rnorm(200), -1e4 - 500 * rexp(200)), r_eff = c(1, 1)),
  list(name = "narrow", ll = cbind(-3 + 1e-3 * rnorm(200)), r_eff = 1),
  list(name = "far_from_zero", ll = gaussian(120, c(0, 2)) - 2e3, r_eff = c(1, 1))
)

psis_case <- function(case) {
  digits <- if (case$name %in% c("narrow", "far_from_zero", "wide")) 10 else 7
  ll <- unname(short(case$ll, digits))
  fit <- suppressWarnings(loo(ll, r_eff = case$r_eff, save_psis = TRUE))
  waic <- suppressWarnings(waic(ll))
  list(
    name = case$name,
    r_eff = I(case$r_eff),
    log_likelihood = columns(ll),
    tail_length = I(attr(fit$psis_object, "tail_len")),
    pareto_k = I(fit$diagnostics$pareto_k),
    log_weights = columns(unname(weights(fit$psis_object, log = TRUE, normalize = TRUE))),
    lppd = I(unname(fit$pointwise[, "elpd_loo"] + fit$pointwise[, "p_loo"])),
    elpd_loo = I(unname(fit$pointwise[, "elpd_loo"])),
    p_loo = I(unname(fit$pointwise[, "p_loo"])),
    elpd_waic = I(unname(waic$pointwise[, "elpd_waic"])),
    p_waic = I(unname(waic$pointwise[, "p_waic"])),
    loo = as.list(fit$estimates[c("elpd_loo", "p_loo", "looic"), ]),
    waic = as.list(waic$estimates[c("elpd_waic", "p_waic", "waic"), ])
  )
}

# Models of the same observations, and their comparison.
y <- round(rnorm(15, 0.5, 1.2), 2)
models <- list(gaussian(100, y, 0.2), gaussian(100, y, 0.5), gaussian(100, y - 0.5, 0.2))
models <- lapply(models, function(ll) unname(short(ll)))
compared <- suppressWarnings(lapply(models, function(ll) loo(ll, r_eff = rep(1, ncol(ll)))))
names(compared) <- paste0("model", seq_along(compared))
comparison <- suppressWarnings(loo_compare(compared))
comparison <- list(
  log_likelihood = lapply(models, columns),
  order = as.integer(sub("model", "", rownames(comparison))) - 1L,
  elpd_diff = unname(comparison[, "elpd_diff"]),
  se_diff = unname(comparison[, "se_diff"])
)

# Log predictive densities, a row for each observation and a column for each model. R's optimiser
# works with their exponentials and stops early: its weights are approximate.
normals <- function(n, means, sds) {
  y <- rt(n, 4)
  sapply(seq_along(means), function(k) dnorm(y, means[k], sds[k], log = TRUE))
}
base <- normals(40, c(-0.5, 0.8), c(1, 1))
stacking_cases <- list(
  list(name = "two", lpd = normals(50, c(-0.6, 0.6), c(0.9, 0.8))),
  list(name = "three", lpd = normals(60, c(-1, 0, 1.5), c(1, 0.6, 2))),
  list(name = "five", lpd = normals(80, c(-2, -1, 0, 1, 2), c(1, 1, 0.5, 0.7, 1))),
  list(name = "identical", lpd = cbind(base, base[, 1])),
  list(name = "dominated", lpd = cbind(base[, 1], base[, 1] - 0.2 - 0.1 * runif(40))),
  list(name = "one_observation", lpd = rbind(c(-1, -1.5, -3)))
)
stacking_case <- function(case) {
  lpd <- unname(short(case$lpd))
  weights <- as.vector(stacking_weights(lpd))
  list(name = case$name, lpd = lapply(columns(lpd), I), weights = weights,
       score = sum(log(exp(lpd) %*% weights)))
}

document <- list(
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."),
                  loo = as.character(packageVersion("loo")),
                  matrixStats = as.character(packageVersion("matrixStats"))),
  psis = lapply(cases, psis_case),
  comparison = comparison,
  stacking = lapply(stacking_cases, stacking_case)
)
text <- jsonlite::toJSON(document, digits = I(17), auto_unbox = TRUE, na = "string", pretty = FALSE)
# A line for each entry.
text <- gsub('(,)("[a-z_]+":|\\{)', "\\1\n\\2", text)
writeLines(text, file.path(arguments[1], "loo.json"))

# LOO, WAIC, comparison and stacking weights of small fits by R's package loo, with likelihoods by
# R's own densities, for the tests of crates/fit.
#
#     Rscript scripts/oracles/loo_fits.R crates/fit/tests/data
#
# Needs R 4.2 with the packages loo (2.5.1) and jsonlite. Reads DIRECTORY/loo/arviz.json (cases and
# relative efficiencies, by scripts/oracles/loo_fits.py), the draws in DIRECTORY/loo and the data in
# DIRECTORY/families, and writes DIRECTORY/loo/loo.json. No code of ridgewalk is used beside the
# draws, which are the input of both sides. Takes a few seconds.

suppressMessages(library(loo))

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript loo_fits.R DIRECTORY")
directory <- arguments[1]
read <- function(...) read.csv(file.path(directory, ...), check.names = FALSE)
cases <- jsonlite::fromJSON(file.path(directory, "loo", "arviz.json"), simplifyVector = FALSE)$cases

# Log likelihoods: a row for each draw, a column for each row of the data.
log_likelihood <- function(case) {
  data <- read("families", case$file)
  draws <- as.matrix(read("loo", paste0(case$name, ".csv")))
  formula <- as.formula(case$formula)
  terms <- delete.response(terms(formula))
  frame <- model.frame(terms, data)
  x <- model.matrix(terms, frame)
  offset <- model.offset(frame)
  if (is.null(offset)) offset <- 0
  y <- data[[all.vars(formula)[1]]]
  if (case$family == "ordinal") x <- x[, -1]
  # Coefficients come first, in the order of R's columns.
  linear <- function(from) draws[, from + seq_len(ncol(x))] %*% t(x) +
    rep(offset, each = nrow(draws))
  each <- function(of) sapply(seq_along(y), of)
  s <- if (case$family != "multinomial") linear(0)
  parameter <- function(name) draws[, name]
  found <- switch(case$family,
    logistic = , probit = {
      n <- if (is.null(case$options$trials)) rep(1, length(y)) else data[[case$options$trials]]
      p <- if (case$family == "logistic") plogis(s) else pnorm(s)
      each(function(i) dbinom(y[i], n[i], p[, i], log = TRUE))
    },
    poisson = each(function(i) dpois(y[i], exp(s[, i]), log = TRUE)),
    `negative-binomial` = each(function(i) {
      dnbinom(y[i], size = parameter("size"), mu = exp(s[, i]), log = TRUE)
    }),
    gaussian = each(function(i) dnorm(y[i], s[, i], parameter("sigma"), log = TRUE)),
    `student-t` = each(function(i) {
      dt((y[i] - s[, i]) / parameter("sigma"), parameter("nu"), log = TRUE) -
        log(parameter("sigma"))
    }),
    `robust-logistic` = each(function(i) dlogis(y[i], s[, i], parameter("sigma"), log = TRUE)),
    gamma = each(function(i) {
      k <- parameter("shape")
      dgamma(y[i], shape = k, rate = k / exp(s[, i]), log = TRUE)
    }),
    weibull = each(function(i) {
      k <- parameter("shape")
      if (data$event[i] == 1) return(dweibull(y[i], k, exp(s[, i]), log = TRUE))
      pweibull(y[i], k, exp(s[, i]), lower.tail = FALSE, log.p = TRUE)
    }),
    `log-logistic` = each(function(i) {
      k <- parameter("shape")
      low <- if (is.na(data$lower[i])) 0 else data$lower[i]
      high <- if (is.na(data$upper[i])) Inf else data$upper[i]
      z <- function(t) k * (log(t) - s[, i])
      if (low == high) return(dlogis(z(low), log = TRUE) + log(k) - log(low))
      head <- plogis(z(high)) - plogis(z(low))
      tail <- plogis(-z(low)) - plogis(-z(high))
      log(ifelse(z(low) > 0, tail, head))
    }),
    ordinal = {
      cuts <- draws[, ncol(x) + seq_len(ncol(draws) - ncol(x))]
      each(function(i) {
        upto <- cbind(-Inf, cuts, Inf) - s[, i]
        log(plogis(upto[, y[i] + 1]) - plogis(upto[, y[i]]))
      })
    },
    multinomial = {
      levels <- sort(unique(y), method = "radix")
      scores <- lapply(seq_along(levels), function(j) {
        if (j == 1) matrix(0, nrow(draws), length(y)) else linear((j - 2) * ncol(x))
      })
      each(function(i) {
        own <- sapply(scores, function(score) score[, i])
        own[, match(y[i], levels)] - log(rowSums(exp(own)))
      })
    }
  )
  if (!is.null(case$options$weights)) {
    found <- t(t(found) * data[[case$options$weights]])
  }
  unname(found)
}

quiet <- suppressWarnings
fitted <- list()
reference <- function(case) {
  ll <- log_likelihood(case)
  found <- quiet(loo(ll, r_eff = rep(case$r_eff, ncol(ll))))
  fitted[[case$name]] <<- found
  waic <- quiet(waic(ll))
  cat(sprintf("%s: elpd_loo %.4f, largest k %.2f\n", case$name, found$estimates["elpd_loo", 1],
              max(found$diagnostics$pareto_k)))
  of <- function(from, name) from$estimates[name, ]
  list(name = case$name, elpd_loo = of(found, "elpd_loo")[[1]], se = of(found, "elpd_loo")[[2]],
       p_loo = of(found, "p_loo")[[1]], elpd_waic = of(waic, "elpd_waic")[[1]],
       se_waic = of(waic, "elpd_waic")[[2]], p_waic = of(waic, "p_waic")[[1]],
       pareto_k = signif(found$diagnostics$pareto_k, 13),
       pointwise = signif(unname(found$pointwise[, "elpd_loo"]), 13))
}
all <- lapply(cases, reference)

names_of <- c("gaussian", "gaussian-two", "gaussian-one")
compared <- quiet(loo_compare(fitted[names_of]))
lpd <- sapply(fitted[names_of], function(one) one$pointwise[, "elpd_loo"])
weights <- as.vector(quiet(stacking_weights(lpd)))
comparison <- list(models = names_of, order = rownames(compared),
                   elpd_diff = unname(compared[, "elpd_diff"]),
                   se_diff = unname(compared[, "se_diff"]), weights = weights,
                   score = sum(log(exp(lpd) %*% weights)))

document <- list(
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."),
                  loo = as.character(packageVersion("loo"))),
  cases = all, comparison = comparison)
text <- jsonlite::toJSON(document, digits = I(15), auto_unbox = TRUE, pretty = FALSE)
text <- gsub('},{"name"', '},\n{"name"', text, fixed = TRUE)
writeLines(text, file.path(directory, "loo", "loo.json"))

# Maximum likelihood estimates and maximised log likelihoods of R's own fits, for the families of
# crates/fit.
#
#     apt-get install r-cran-mass r-cran-survival r-cran-nnet r-cran-jsonlite
#     Rscript scripts/oracles/modes.R crates/fit/tests/data
#
# Reads the CSV files in DIRECTORY/families, which data.py makes, and writes DIRECTORY/modes.json.
# No code of ridgewalk is used. negative-binomial: MASS::glm.nb. gamma: glm with MASS::gamma.shape.
# Survival families: survival::survreg, shape = 1 / scale. ordinal: MASS::polr. multinomial:
# nnet::multinom. gaussian: lm, with sigma the root of the mean squared residual.
#
# The fits run on standardised columns, since several optimisers stop early at awkward units.
# Estimates are converted back; log likelihoods do not depend on the units of predictors. Where the
# package's optimiser stops before 8 digits (glm.nb, polr, multinom), root finding or Newton steps
# finish the maximum. `change` in the output is the largest relative difference from the package's
# own estimate or, for survreg and polr, from that of a second start; it must be below 1e-5. Takes a
# few seconds.

suppressMessages({
  library(MASS)
  library(survival)
  library(nnet)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript modes.R DIRECTORY")
directory <- arguments[1]

cases <- list(
  c("gaussian", "stackloss.csv"), c("gaussian", "wages.csv"), c("gaussian", "growth.csv"),
  c("negative-binomial", "visits.csv"), c("negative-binomial", "claims.csv"),
  c("gamma", "costs.csv"), c("gamma", "rain.csv"),
  c("weibull", "relapse.csv"), c("weibull", "bearings.csv"), c("weibull", "inspections.csv"),
  c("log-logistic", "relapse.csv"), c("log-logistic", "bearings.csv"),
  c("log-logistic", "inspections.csv"),
  c("log-normal", "relapse.csv"), c("log-normal", "bearings.csv"), c("log-normal", "seedlings.csv"),
  c("exponential", "relapse.csv"), c("exponential", "bearings.csv"),
  c("exponential", "inspections.csv"),
  c("ordinal", "opinions.csv"), c("ordinal", "pain.csv"),
  c("multinomial", "travel.csv"), c("multinomial", "habitat.csv")
)

# The model matrix with the names of ridgewalk, and its standardised columns.
design <- function(data, predictors) {
  columns <- list()
  for (name in predictors) {
    if (is.character(data[[name]])) {
      for (level in sort(unique(data[[name]]), method = "radix")[-1]) {
        columns[[paste0(name, "[", level, "]")]] <- as.numeric(data[[name]] == level)
      }
    } else {
      columns[[name]] <- as.numeric(data[[name]])
    }
  }
  x <- do.call(cbind, columns)
  list(names = colnames(x), centre = colMeans(x), sd = apply(x, 2, sd), z = unname(scale(x)))
}

# Coefficients in the units of the file, from an intercept and slopes of standardised columns.
back <- function(estimate, d) {
  slopes <- estimate[-1] / d$sd
  setNames(c(estimate[1] - sum(slopes * d$centre), slopes), c("(Intercept)", d$names))
}

fit_gaussian <- function(y, d) {
  fit <- lm(y ~ d$z)
  list(estimates = c(back(unname(coef(fit)), d), sigma = sqrt(mean(residuals(fit)^2))),
       likelihood = as.numeric(logLik(fit)))
}

# glm.nb alternates between coefficients and size and stops when the log likelihood settles. The
# root of the score in the size, at the coefficients that are best for it, has more digits.
fit_negative_binomial <- function(y, d) {
  rough <- glm.nb(y ~ d$z, control = glm.control(epsilon = 1e-14, maxit = 200))
  at <- function(size) {
    glm(y ~ d$z, family = negative.binomial(size),
        control = glm.control(epsilon = 1e-15, maxit = 200), start = coef(rough))
  }
  score <- function(log_size) {
    size <- exp(log_size)
    mu <- fitted(at(size))
    sum(digamma(y + size) - digamma(size) + log(size / (size + mu)) + (mu - y) / (size + mu))
  }
  middle <- log(rough$theta)
  size <- exp(uniroot(score, middle + c(-0.1, 0.1), tol = 1e-13)$root)
  mu <- fitted(at(size))
  list(estimates = c(back(unname(coef(at(size))), d), size = size),
       likelihood = sum(dnbinom(y, size = size, mu = mu, log = TRUE)),
       other = c(back(unname(coef(rough)), d), size = rough$theta))
}

fit_gamma <- function(y, d) {
  fit <- glm(y ~ d$z, family = Gamma(link = "log"),
             control = glm.control(epsilon = 1e-15, maxit = 200), start = c(log(mean(y)), 0 * d$sd))
  shape <- gamma.shape(fit, it.lim = 200, eps.max = 1e-14)$alpha
  list(estimates = c(back(unname(coef(fit)), d), shape = shape),
       likelihood = sum(dgamma(y, shape = shape, rate = shape / fitted(fit), log = TRUE)))
}

fit_survival <- function(data, d, family) {
  if ("event" %in% names(data)) {
    y <- Surv(data$time, data$event)
  } else {
    y <- Surv(data$lower, data$upper, type = "interval2")
  }
  name <- c(weibull = "weibull", `log-logistic` = "loglogistic", `log-normal` = "lognormal",
            exponential = "exponential")[[family]]
  tight <- survreg.control(rel.tolerance = 1e-14, toler.chol = 1e-14, maxiter = 200)
  first <- survreg(y ~ d$z, dist = name, control = tight)
  second <- survreg(y ~ d$z, dist = name, control = tight, init = coef(first) + 0.05)
  estimates <- function(fit) {
    shape <- if (family == "exponential") NULL else c(shape = 1 / fit$scale)
    c(back(unname(coef(fit)), d), shape)
  }
  list(estimates = estimates(first), likelihood = first$loglik[2], other = estimates(second))
}

fit_ordinal <- function(y, d) {
  y <- factor(y, levels = sort(unique(y), method = "radix"))
  attempt <- function(start) {
    polr(y ~ d$z, method = "logistic", start = start, control = list(reltol = 1e-16, maxit = 2000))
  }
  rough <- polr(y ~ d$z, method = "logistic")
  # BFGS leaves about 6 digits; a few Newton steps on polr's likelihood finish the maximum.
  estimates <- function(fit) {
    point <- newton(c(coef(fit), fit$zeta), function(p) ordinal_likelihood(p, as.integer(y), d$z))
    count <- length(d$sd)
    slopes <- setNames(point[1:count] / d$sd, d$names)
    cuts <- point[-(1:count)] + sum(slopes * d$centre)
    c(slopes, setNames(cuts, names(fit$zeta)))
  }
  first <- attempt(c(coef(rough), rough$zeta))
  second <- attempt(c(coef(rough) * 0.8, rough$zeta * 1.1))
  list(estimates = estimates(first), likelihood = as.numeric(logLik(first)),
       other = estimates(second))
}

# Log likelihood, gradient and Hessian of the ordinal model at (slopes, cuts). With G = F(high) -
# F(low), f = F (1 - F) and u the derivatives of high and low, which are linear in p.
ordinal_likelihood <- function(p, level, z) {
  count <- ncol(z)
  cuts <- p[-(1:count)]
  k <- length(cuts)
  score <- drop(z %*% p[1:count])
  high <- c(cuts, Inf)[level] - score
  low <- c(-Inf, cuts)[level] - score
  pick <- function(j) outer(j, seq_len(k), "==") * 1
  up <- cbind(-z, pick(level))
  down <- cbind(-z, pick(level - 1))
  mass <- plogis(high) - plogis(low)
  f <- function(x) dlogis(x)
  slope <- function(x) ifelse(is.finite(x), dlogis(x) * (1 - 2 * plogis(x)), 0)
  first <- (up * f(high) - down * f(low)) / mass
  second <- crossprod(up, up * slope(high) / mass) - crossprod(down, down * slope(low) / mass)
  list(value = sum(log(mass)), gradient = colSums(first), hessian = second - crossprod(first))
}

multinomial_likelihood <- function(p, level, z) {
  x <- cbind(1, z)
  others <- max(level) - 1
  scores <- cbind(0, x %*% matrix(p, ncol(x), others))
  chances <- exp(scores - apply(scores, 1, max))
  chances <- chances / rowSums(chances)
  rest <- chances[, -1, drop = FALSE]
  gradient <- as.vector(crossprod(x, outer(level, seq_len(others) + 1, "==") - rest))
  hessian <- matrix(0, length(p), length(p))
  for (i in seq_len(others)) {
    for (j in seq_len(others)) {
      rows <- (i - 1) * ncol(x) + seq_len(ncol(x))
      columns <- (j - 1) * ncol(x) + seq_len(ncol(x))
      weight <- rest[, i] * ((i == j) - rest[, j])
      hessian[rows, columns] <- -crossprod(x, x * weight)
    }
  }
  list(value = sum(log(chances[cbind(seq_along(level), level)])), gradient = gradient,
       hessian = hessian)
}

newton <- function(point, likelihood) {
  for (step in 1:6) {
    here <- likelihood(point)
    point <- point - solve(here$hessian, here$gradient)
  }
  stopifnot(max(abs(likelihood(point)$gradient)) < 1e-9)
  point
}

fit_multinomial <- function(y, d) {
  y <- factor(y, levels = sort(unique(y), method = "radix"))
  fit <- multinom(y ~ d$z, trace = FALSE, maxit = 5000, reltol = 1e-16, abstol = 1e-16)
  rough <- as.vector(t(coef(fit)))
  exact <- newton(rough, function(p) multinomial_likelihood(p, as.integer(y), d$z))
  estimates <- function(point) {
    each <- matrix(point, length(d$sd) + 1)
    unlist(lapply(seq_len(ncol(each)), function(j) {
      found <- back(each[, j], d)
      setNames(found, paste0(levels(y)[j + 1], ":", names(found)))
    }))
  }
  value <- multinomial_likelihood(exact, as.integer(y), d$z)$value
  stopifnot(abs(value - as.numeric(logLik(fit))) < 1e-7)
  list(estimates = estimates(exact), likelihood = value, other = estimates(rough))
}

describe <- function(case) {
  family <- case[1]
  data <- read.csv(file.path(directory, "families", case[2]), check.names = FALSE)
  extra <- intersect(c("event", "lower", "upper"), names(data))
  response <- if ("lower" %in% extra) NULL else names(data)[1]
  predictors <- setdiff(names(data), c(response, extra))
  d <- design(data, predictors)
  found <- switch(family,
    gaussian = fit_gaussian(data[[response]], d),
    `negative-binomial` = fit_negative_binomial(data[[response]], d),
    gamma = fit_gamma(data[[response]], d),
    ordinal = fit_ordinal(data[[response]], d),
    multinomial = fit_multinomial(data[[response]], d),
    fit_survival(data, d, family))
  change <- 0
  if (!is.null(found$other)) {
    change <- max(abs(found$other - found$estimates) / pmax(abs(found$estimates), 1e-12))
  }
  cat(sprintf("%-18s %-16s log likelihood %.8f, change %.1e\n", family, case[2],
              found$likelihood, change))
  stopifnot(change < 1e-5)
  result <- list(file = case[2], family = family, response = response, predictors = I(predictors))
  result[extra] <- extra
  result$log_likelihood <- found$likelihood
  result$parameters <- lapply(names(found$estimates), function(name) {
    list(name = name, estimate = found$estimates[[name]])
  })
  result
}

version <- function(package) as.character(packageVersion(package))
result <- list(
  made_by = "Rscript scripts/oracles/modes.R crates/fit/tests/data",
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."), MASS = version("MASS"),
                  survival = version("survival"), nnet = version("nnet")),
  cases = lapply(cases, describe)
)
write(toJSON(result, auto_unbox = TRUE, pretty = TRUE, digits = NA, null = "null"),
      file.path(directory, "modes.json"))

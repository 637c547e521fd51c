# Posteriors of brms, which compiles a Stan program for each model: proportional odds on two files,
# and a Weibull model with censored times.
#
#     apt-get install r-cran-brms r-cran-jsonlite libboost-dev
#     Rscript scripts/oracles/brms.R crates/fit/tests/data
#
# Reads the CSV files in DIRECTORY/families and writes DIRECTORY/brms.json, in the form of
# families.json. No code of ridgewalk is used. brms centres predictors and has its priors of
# thresholds and intercepts at their means, as ridgewalk does. Priors of coefficients are ridgewalk's
# defaults: normal(0, 2.5/sd(x)), for times normal(0, 2.5 sd(log t)/sd(x)). brms' Weibull model has
# the mean as its location: log mean = s + log gamma(1 + 1/k), so the intercept is converted draw by
# draw, and has a flat prior, as in the test. Takes some minutes.

suppressMessages(library(brms))
suppressMessages(library(jsonlite))
# Where Debian has Boost, which rstan looks for in the package BH.
rstan::rstan_options(boost_lib = "/usr/include")

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript brms.R DIRECTORY")
directory <- arguments[1]

read <- function(file) {
  data <- read.csv(file.path(directory, "families", file), check.names = FALSE)
  for (name in names(data)) {
    if (is.character(data[[name]])) {
      data[[name]] <- factor(data[[name]], levels = sort(unique(data[[name]]), method = "radix"))
    }
  }
  data
}

# The columns of the model matrix under ridgewalk's names, as plain numbers. brms gets them divided by
# their standard deviations, and coefficients are divided by these in turn: the same posterior.
columns <- function(data, predictors) {
  result <- list()
  for (name in predictors) {
    if (is.factor(data[[name]])) {
      for (level in levels(data[[name]])[-1]) {
        result[[paste0(name, "[", level, "]")]] <- as.numeric(data[[name]] == level)
      }
    } else {
      result[[name]] <- as.numeric(data[[name]])
    }
  }
  result
}

normal_priors <- function(x, spread) {
  priors <- empty_prior()
  for (k in seq_along(x)) {
    scale <- format(2.5 * spread, digits = 17)
    priors <- priors + set_prior(paste0("normal(0, ", scale, ")"), coef = paste0("x", k))
  }
  priors
}

# Standard errors by batches of a fiftieth of the draws of all chains.
with_error <- function(draws, f) {
  batch <- cut(seq_along(draws), 50, labels = FALSE)
  c(f(draws), sd(tapply(draws, batch, f)) / sqrt(50))
}

summaries <- function(draws) {
  lapply(names(draws), function(name) {
    x <- draws[[name]]
    mean <- with_error(x, base::mean); sd <- with_error(x, stats::sd)
    q <- lapply(c(0.05, 0.5, 0.95), function(p) with_error(x, function(y) quantile(y, p)))
    list(name = name, mean = mean[1], mean_error = mean[2], sd = sd[1], sd_error = sd[2],
         q05 = unname(q[[1]][1]), q05_error = q[[1]][2], q50 = unname(q[[2]][1]),
         q50_error = q[[2]][2], q95 = unname(q[[3]][1]), q95_error = q[[3]][2])
  })
}

sample <- function(formula, data, family, priors) {
  brm(formula, data = data, family = family, prior = priors, chains = 4, iter = 4000,
      warmup = 1000, seed = 1, cores = 1, refresh = 0, silent = 2)
}

ordinal <- function(file, response, predictors) {
  data <- read(file)
  x <- columns(data, predictors)
  sds <- sapply(x, sd)
  frame <- data.frame(setNames(Map(`/`, x, sds), paste0("x", seq_along(x))))
  labels <- if (is.factor(data[[response]])) levels(data[[response]]) else
    sort(unique(data[[response]]))
  frame$y <- factor(data[[response]], levels = labels, ordered = TRUE)
  priors <- normal_priors(x, 1) + set_prior("logistic(0, 1)", class = "Intercept")
  formula <- as.formula(paste("y ~", paste0("x", seq_along(x), collapse = " + ")))
  draws <- as.data.frame(sample(formula, frame, cumulative("logit"), priors))
  result <- setNames(Map(`/`, draws[paste0("b_x", seq_along(x))], sds), names(x))
  for (k in seq_len(length(labels) - 1)) {
    result[[paste0(labels[k], "|", labels[k + 1])]] <- draws[[paste0("b_Intercept[", k, "]")]]
  }
  list(file = file, family = "ordinal", response = response, predictors = predictors,
       parameters = summaries(result))
}

weibull_model <- function(file, response, predictors, event) {
  data <- read(file)
  x <- columns(data, predictors)
  sds <- sapply(x, sd)
  frame <- data.frame(setNames(Map(`/`, x, sds), paste0("x", seq_along(x))))
  frame$t <- data[[response]]
  frame$c <- ifelse(data[[event]] == 1, "none", "right")
  priors <- normal_priors(x, sd(log(frame$t))) +
    set_prior("", class = "Intercept") + set_prior("exponential(1)", class = "shape")
  formula <- as.formula(paste("t | cens(c) ~", paste0("x", seq_along(x), collapse = " + ")))
  draws <- as.data.frame(sample(formula, frame, weibull(), priors))
  shift <- lgamma(1 + 1 / draws$shape)
  result <- list(`(Intercept)` = draws$b_Intercept - shift)
  for (k in seq_along(x)) result[[names(x)[k]]] <- draws[[paste0("b_x", k)]] / sds[k]
  result$shape <- draws$shape
  list(file = file, family = "weibull", response = response, predictors = predictors,
       event = event, parameters = summaries(result))
}

cases <- list(
  ordinal("opinions.csv", "opinion", c("income", "age", "region")),
  ordinal("pain.csv", "pain", c("dose", "weight", "pulse")),
  weibull_model("relapse.csv", "time", c("age", "marker", "therapy"), "event")
)
versions <- list(R = paste(R.version$major, R.version$minor, sep = "."),
                 brms = as.character(packageVersion("brms")),
                 rstan = as.character(packageVersion("rstan")))
write_json(list(made_by = "Rscript scripts/oracles/brms.R crates/fit/tests/data",
                versions = versions, cases = cases),
           file.path(directory, "brms.json"), auto_unbox = TRUE, digits = NA, pretty = TRUE)

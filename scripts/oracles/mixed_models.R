# Mixed models in rstanarm: data, formulas and priors, and draws under ridgewalk's names. For mixed.R
# beside this file and for scripts/measure/mixed.R.
#
# Priors of coefficients and intercept are absolute (autoscale = FALSE), the intercept's at the means
# of the columns of the model matrix, dummies included. The standard deviation of a grouping term has
#
#     decov(regularization = 1, concentration = 1, shape = 1, scale = s).
#
# For an intercept-only term rstanarm's Stan program (common_functions.stan: decov_lp, make_theta_L;
# continuous.stan and bernoulli.stan) has
#
#     tau ~ gamma(shape, 1),
#     sd  = s * tau          for binomial responses,
#     sd  = s * tau * sigma  for gaussian responses.
#
# With shape = 1: sd ~ exponential with mean s for binomial responses; for gaussian ones sd | sigma ~
# exponential with mean s * sigma, so sd and sigma are dependent a priori. `regularization` and
# `concentration` have no effect on such terms.

suppressMessages({
  library(rstanarm)
  library(posterior)
  library(jsonlite)
})
options(mc.cores = 1)

# `priors` is what ridgewalk is to be given, `arguments` the same in rstanarm's words.
# relative_exponential(r): sd / sigma is exponential with rate r; ridgewalk cannot state this.
models <- list(
  cbpp = list(
    data = "cbpp.csv", family = "binomial", factors = "period", groups = "herd",
    formula = "cbind(incidence, size - incidence) ~ period + (1 | herd)",
    priors = list(coefficients = "normal(0, 2.5)", intercept = "normal(0, 5)",
                  "sd_herd__(Intercept)" = "exponential(1)"),
    arguments = list(family = binomial(), prior = normal(0, 2.5, autoscale = FALSE),
                     prior_intercept = normal(0, 5, autoscale = FALSE)),
    iterations = 11000
  ),
  sleepstudy = list(
    data = "sleepstudy.csv", family = "gaussian", factors = character(), groups = "Subject",
    formula = "Reaction ~ Days + (1 | Subject)",
    priors = list(coefficients = "normal(0, 50)", intercept = "normal(300, 100)",
                  sigma = "exponential(0.02)", "sd_Subject__(Intercept)" = "relative_exponential(1)"),
    arguments = list(family = gaussian(), prior = normal(0, 50, autoscale = FALSE),
                     prior_intercept = normal(300, 100, autoscale = FALSE),
                     prior_aux = exponential(0.02, autoscale = FALSE)),
    iterations = 11000
  ),
  radon = list(
    data = "radon.csv", family = "gaussian", factors = character(), groups = "county",
    formula = "log_radon ~ floor + log_uranium + (1 | county)",
    priors = list(coefficients = "normal(0, 2.5)", intercept = "normal(0, 5)",
                  sigma = "exponential(1)",
                  "sd_county__(Intercept)" = "relative_exponential(1)"),
    arguments = list(family = gaussian(), prior = normal(0, 2.5, autoscale = FALSE),
                     prior_intercept = normal(0, 5, autoscale = FALSE),
                     prior_aux = exponential(1, autoscale = FALSE)),
    iterations = 6000
  ),
  VerbAgg = list(
    data = "VerbAgg.csv", family = "binomial", factors = character(), groups = c("id", "item"),
    formula = "r2 ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)",
    priors = list(coefficients = "normal(0, 2.5)", intercept = "normal(0, 5)",
                  "sd_id__(Intercept)" = "exponential(1)",
                  "sd_item__(Intercept)" = "exponential(1)"),
    arguments = list(family = binomial(), prior = normal(0, 2.5, autoscale = FALSE),
                     prior_intercept = normal(0, 5, autoscale = FALSE)),
    iterations = 5000
  )
)

# Text columns and `factors` as factors, with levels in the order of bytes, whatever the locale.
read <- function(model, directory) {
  data <- read.csv(file.path(directory, model$data), check.names = FALSE)
  for (name in names(data)) {
    if (is.character(data[[name]])) {
      data[[name]] <- factor(data[[name]], levels = sort(unique(data[[name]]), method = "radix"))
    } else if (name %in% c(model$factors, model$groups)) {
      data[[name]] <- factor(data[[name]])
    }
  }
  data
}

# stan_glmer, which is stan_lmer for a gaussian family. One core, rstanarm's own sampler settings.
sample <- function(model, data, iterations, seed) {
  covariance <- decov(regularization = 1, concentration = 1, shape = 1, scale = 1)
  do.call(stan_glmer, c(list(as.formula(model$formula), data = data, chains = 4, cores = 1,
                             warmup = 1000, iter = iterations, seed = seed, refresh = 0,
                             prior_covariance = covariance), model$arguments))
}

# A list of matrices, draws by chains, under ridgewalk's names. `_NEW_` levels, which rstanarm pads
# every grouping factor with, are not among them.
draws_of <- function(model, data, fit) {
  draws <- as.array(fit)
  result <- list()
  for (column in dimnames(draws)[[3]]) {
    if (grepl("^mean_PPD|^log-posterior|_NEW_", column)) next
    values <- draws[, , column]
    name <- column
    for (factor in names(data)[sapply(data, is.factor)]) {
      level <- match(column, paste0(factor, levels(data[[factor]])))
      if (!is.na(level)) name <- paste0(factor, "[", levels(data[[factor]])[level], "]")
    }
    if (grepl("^b\\[", column)) {
      name <- sub("^b\\[(.*) ([^:]*):(.*)\\]$", "r_\\2[\\3,\\1]", column)
    } else if (grepl("^Sigma\\[", column)) {
      name <- sub("^Sigma\\[([^:]*):(.*),(.*)\\]$", "sd_\\1__\\2", column)
      values <- sqrt(values)
    }
    result[[name]] <- values
  }
  result
}

# Seconds of sampling by chain, the smallest effective sample size over all parameters (E), by two
# definitions, and E per second. rstan's seconds are processor time of the chain.
speed <- function(fit, draws) {
  elapsed <- rstan::get_elapsed_time(fit$stanfit)
  bulk <- sapply(draws, ess_bulk)
  # As in scripts/measure/python_peers.py: of the value and of its squared distance from the mean.
  moments <- sapply(draws, function(x) min(ess_mean(x), ess_mean((x - mean(x))^2)))
  warm_up <- sum(elapsed[, "warmup"])
  sampling <- sum(elapsed[, "sample"])
  list(
    chains = ncol(draws[[1]]), draws_per_chain = nrow(draws[[1]]),
    warm_up_seconds = I(unname(elapsed[, "warmup"])),
    sampling_seconds = I(unname(elapsed[, "sample"])),
    warm_up_seconds_total = warm_up, sampling_seconds_total = sampling,
    divergences = rstan::get_num_divergent(fit$stanfit),
    slowest = names(bulk)[which.min(bulk)], ess_bulk = min(bulk),
    ess_bulk_per_second = min(bulk) / sampling,
    ess_bulk_per_second_with_warm_up = min(bulk) / (sampling + warm_up),
    slowest_moment = names(moments)[which.min(moments)], ess_moments = min(moments),
    ess_moments_per_second = min(moments) / sampling,
    ess_moments_per_second_with_warm_up = min(moments) / (sampling + warm_up)
  )
}

versions <- function() {
  version <- function(package) as.character(packageVersion(package))
  list(R = paste(R.version$major, R.version$minor, sep = "."), rstanarm = version("rstanarm"),
       rstan = version("rstan"), StanHeaders = version("StanHeaders"),
       posterior = version("posterior"))
}

# Default priors of rstanarm's stan_glm and stan_glm.nb, as prior_summary() reports them.
#
#     apt-get install r-cran-rstanarm r-cran-jsonlite
#     Rscript scripts/oracles/priors.R crates/fit/tests/data
#
# Reads the CSV files in DIRECTORY/families and writes DIRECTORY/rstanarm-priors.json. No code of
# ridgewalk is used. The scales are those after rstanarm's rescaling. The intercept is the one at
# centred predictors. Names follow ridgewalk: `column[level]`, the alphabetically first level being
# the base. `auxiliary` is null for families without one. Only the priors matter, so the chains are
# as short as rstanarm allows. Takes a few seconds.

suppressMessages(library(rstanarm))
suppressMessages(library(jsonlite))

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript priors.R DIRECTORY")
directory <- arguments[1]

cases <- list(
  list("stackloss.csv", "gaussian"),
  list("wages.csv", "gaussian"),
  list("growth.csv", "gaussian"),
  list("resistance.csv", "gaussian"),
  list("prices.csv", "gaussian"),
  list("clocks.csv", "gaussian"),
  list("votes.csv", "binomial"),
  list("alarms.csv", "binomial"),
  list("visits.csv", "poisson"),
  list("claims.csv", "poisson"),
  list("visits.csv", "negative-binomial"),
  list("claims.csv", "negative-binomial"),
  list("costs.csv", "gamma"),
  list("rain.csv", "gamma")
)

# Base R sorts text by locale; this is the order of bytes.
read <- function(file) {
  data <- read.csv(file.path(directory, "families", file), check.names = FALSE)
  for (name in names(data)) {
    if (is.character(data[[name]])) {
      data[[name]] <- factor(data[[name]], levels = sort(unique(data[[name]]), method = "radix"))
    }
  }
  data
}

coefficient_names <- function(data, predictors) {
  unlist(lapply(predictors, function(name) {
    if (is.factor(data[[name]])) paste0(name, "[", levels(data[[name]])[-1], "]") else name
  }))
}

fit <- function(formula, data, family) {
  short <- list(formula, data = data, chains = 1, iter = 20, refresh = 0, seed = 1)
  if (family == "negative-binomial") return(do.call(stan_glm.nb, short))
  short$family <- switch(family, gaussian = gaussian(), binomial = binomial(),
                         poisson = poisson(), gamma = Gamma(link = "log"))
  do.call(stan_glm, short)
}

# The scale after adjustment; rstanarm leaves it out where it adjusted nothing.
adjusted <- function(prior) {
  as.numeric(if (is.null(prior$adjusted_scale)) prior$scale else prior$adjusted_scale)
}

auxiliary <- function(prior) {
  if (is.null(prior)) return(NULL)
  stopifnot(prior$dist == "exponential")
  # rstanarm reports the scale, which is the mean, after adjustment and the rate before.
  rate <- if (is.null(prior$adjusted_scale)) prior$rate else 1 / prior$adjusted_scale
  list(distribution = "exponential", rate = rate)
}

describe <- function(case) {
  data <- read(case[[1]])
  response <- names(data)[1]
  predictors <- names(data)[-1]
  formula <- reformulate(paste0("`", predictors, "`"), as.name(response))
  priors <- suppressWarnings(prior_summary(fit(formula, data, case[[2]])))
  stopifnot(priors$prior$dist == "normal", priors$prior_intercept$dist == "normal")
  names <- coefficient_names(data, predictors)
  scales <- adjusted(priors$prior)
  stopifnot(length(scales) == length(names))
  list(
    file = case[[1]], family = case[[2]], response = response, predictors = I(predictors),
    coefficients = lapply(seq_along(names), function(k) {
      list(name = names[k], location = priors$prior$location[k], scale = scales[k])
    }),
    intercept = list(location = as.numeric(priors$prior_intercept$location),
                     scale = adjusted(priors$prior_intercept)),
    auxiliary = auxiliary(priors$prior_aux)
  )
}

version <- function(package) as.character(packageVersion(package))
result <- list(
  made_by = "Rscript scripts/oracles/priors.R crates/fit/tests/data",
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."),
                  rstanarm = version("rstanarm"), rstan = version("rstan")),
  cases = lapply(cases, describe)
)
write(toJSON(result, auto_unbox = TRUE, pretty = TRUE, digits = NA, null = "null"),
      file.path(directory, "rstanarm-priors.json"))

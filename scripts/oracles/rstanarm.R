# Posteriors of rstanarm, with its default priors: means, standard deviations and 5, 50 and 95 %
# quantiles, each with its Monte Carlo error.
#
#     apt-get install r-cran-rstanarm r-cran-posterior r-cran-jsonlite
#     Rscript scripts/oracles/rstanarm.R crates/fit/tests/data
#
# Reads the CSV files in DIRECTORY/families, which data.py makes, and writes
# DIRECTORY/rstanarm.json. No code of ridgewalk is used. Four chains of 10,000 kept draws. R-hat
# must be below 1.003 and no transition may diverge; stan_polr needs adapt_delta = 0.999 for that,
# since 0.99 left one divergence. Errors are those of the posterior package. Takes about five
# minutes on one core.
#
# The priors of gaussian and negative-binomial are those of families.py. Those of ordinal are not:
# stan_polr has no normal prior, and its `prior = NULL` is not flat in the coefficients. It leaves
# R2 uniform on (0, 1), where, with Q the orthonormal columns of the centred predictors, theta the
# coefficients of Q, and u uniform on the sphere,
#
#     theta = u sqrt((n - 1) R2 / (1 - R2)),    c_j = logit(p_1 + ... + p_j) / sqrt(1 - R2),
#
# and p has the flat Dirichlet law of `prior_counts = dirichlet(1)`. So the thresholds widen with
# R2. The key `prior` of a case tells these two kinds apart.

suppressMessages({
  library(rstanarm)
  library(posterior)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript rstanarm.R DIRECTORY")
directory <- arguments[1]
options(mc.cores = 1)

cases <- list(
  c("gaussian", "stackloss.csv"), c("gaussian", "wages.csv"), c("gaussian", "growth.csv"),
  c("negative-binomial", "visits.csv"), c("negative-binomial", "claims.csv"),
  c("ordinal", "opinions.csv"), c("ordinal", "pain.csv")
)

# Text columns as factors, with levels in the order of bytes, whatever the locale.
read <- function(file) {
  data <- read.csv(file.path(directory, "families", file), check.names = FALSE)
  for (name in names(data)) {
    if (is.character(data[[name]])) {
      data[[name]] <- factor(data[[name]], levels = sort(unique(data[[name]]), method = "radix"))
    }
  }
  data
}

# From rstanarm's names of coefficients to those of ridgewalk.
names_of <- function(data, predictors) {
  pairs <- lapply(predictors, function(name) {
    if (!is.factor(data[[name]])) return(setNames(name, name))
    levels <- levels(data[[name]])[-1]
    setNames(paste0(name, "[", levels, "]"), paste0(name, levels))
  })
  c(`(Intercept)` = "(Intercept)", unlist(pairs), sigma = "sigma", reciprocal_dispersion = "size")
}

fit <- function(formula, data, family) {
  options <- list(formula, data = data, chains = 4, warmup = 2000, iter = 12000, refresh = 0,
                  seed = 1965)
  if (family == "gaussian") return(do.call(stan_glm, options))
  if (family == "negative-binomial") return(do.call(stan_glm.nb, options))
  options <- c(options, list(prior = NULL, prior_counts = dirichlet(1), adapt_delta = 0.999))
  do.call(stan_polr, options)
}

summarise <- function(name, draws) {
  result <- list(name = name, mean = mean(draws), mean_error = mcse_mean(draws), sd = sd(draws),
                 sd_error = mcse_sd(draws))
  for (level in c(0.05, 0.5, 0.95)) {
    key <- sprintf("q%02.0f", 100 * level)
    result[[key]] <- unname(quantile(draws, level))
    result[[paste0(key, "_error")]] <- unname(mcse_quantile(draws, level))
  }
  result
}

describe <- function(case) {
  started <- Sys.time()
  family <- case[1]
  data <- read(case[2])
  response <- names(data)[1]
  predictors <- names(data)[-1]
  if (family == "ordinal") data[[response]] <- factor(data[[response]], ordered = TRUE)
  formula <- reformulate(predictors, as.name(response))
  found <- fit(formula, data, family)
  draws <- as.array(found)
  known <- names_of(data, predictors)
  parameters <- list()
  rhats <- c()
  for (column in dimnames(draws)[[3]]) {
    if (grepl("^mean_PPD|^residuals|^log-posterior", column)) next
    threshold <- family == "ordinal" && grepl("|", column, fixed = TRUE)
    name <- if (threshold) column else known[[column]]
    parameters <- c(parameters, list(summarise(name, draws[, , column])))
    rhats <- c(rhats, rhat(draws[, , column]))
  }
  divergences <- rstan::get_num_divergent(found$stanfit)
  ratios <- sapply(parameters, function(p) p$mean_error / p$sd)
  cat(sprintf("%s %s: R-hat %.5f, divergences %d, largest mean_error / sd %.4f, %.0f s\n", family,
              case[2], max(rhats), divergences, max(ratios),
              as.numeric(Sys.time() - started, units = "secs")))
  stopifnot(max(rhats) < 1.003, divergences == 0)
  prior <- if (family == "ordinal") "R2 uniform, thresholds scaled" else "as in families.json"
  list(file = case[2], family = family, response = response, predictors = I(predictors),
       prior = prior, divergences = divergences, parameters = parameters)
}

version <- function(package) as.character(packageVersion(package))
result <- list(
  made_by = "Rscript scripts/oracles/rstanarm.R crates/fit/tests/data",
  versions = list(R = paste(R.version$major, R.version$minor, sep = "."),
                  rstanarm = version("rstanarm"), rstan = version("rstan"),
                  posterior = version("posterior")),
  cases = lapply(cases, describe)
)
write(toJSON(result, auto_unbox = TRUE, pretty = TRUE, digits = NA),
      file.path(directory, "rstanarm.json"))

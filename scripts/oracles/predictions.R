# Predictions of new rows by rstanarm: linear predictor, expected response and a response drawn at
# random, with their Monte Carlo errors.
#
#     apt-get install r-cran-rstanarm r-cran-posterior r-cran-jsonlite
#     Rscript scripts/oracles/predictions.R crates/fit/tests/data
#
# Reads the CSV files in DIRECTORY/families, which data.py makes, and writes
# DIRECTORY/predictions.json: for each model its formula, its priors as options of ridgewalk, eight
# new rows, and means, standard deviations and 5, 50 and 95 % quantiles for each of them. No code of
# ridgewalk is used. Priors are explicit; that of the intercept holds at the means of the columns of
# the model matrix, as in ridgewalk. Four chains of 5,000 kept draws; R-hat must be below 1.005 and
# no transition may diverge. Takes about two minutes on one core.

suppressMessages({
  library(rstanarm)
  library(posterior)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript predictions.R DIRECTORY")
directory <- arguments[1]
options(mc.cores = 1)

case <- function(family, file, formula, slope, intercept, aux = NULL, trials = NULL,
                 response = NULL) {
  list(family = family, file = file, formula = formula, slope = slope, intercept = intercept,
       aux = aux, trials = trials, response = response)
}

# slope: the scale of the normal(0, scale) of coefficients; intercept: mean and scale of its normal
# law; aux: the rate of an exponential law.
cases <- list(
  case("logistic", "votes.csv", "voted ~ scale(income) * region + age", 1.5, c(0, 2)),
  case("poisson", "accidents.csv", "accidents ~ scale(traffic) * weather + offset(log(hours))", 1,
       c(-4, 2)),
  case("negative-binomial", "visits.csv", "visits ~ scale(income) + plan * scale(year)", 1, c(1, 2),
       aux = 0.5),
  case("gaussian", "wages.csv", "wage ~ poly(year, 2) + scale(income) * region", 10, c(14, 5),
       aux = 0.3),
  case("gamma", "costs.csv", "cost ~ scale(age) * ward + poly(stay, 2)", 2, c(8, 2), aux = 0.2),
  case("logistic", "germination.csv", "germinated ~ poly(warmth, 2) * soil", 3, c(0, 2),
       trials = "seeds", response = "cbind(germinated, seeds - germinated)")
)

read <- function(file) {
  data <- read.csv(file.path(directory, "families", file), check.names = FALSE)
  for (name in names(data)) {
    if (is.character(data[[name]])) {
      data[[name]] <- factor(data[[name]], levels = sort(unique(data[[name]]), method = "radix"))
    }
  }
  data
}

# Eight rows inside the range of the data: shares of the range of each column of numbers, and all
# levels in turn.
new_rows <- function(data) {
  shares <- list(c(0.1, 0.9, 0.5, 0.3, 0.7, 0.2, 0.8, 0.4), c(0.6, 0.2, 0.9, 0.1, 0.5, 0.8, 0.3, 0.7),
                 c(0.4, 0.7, 0.2, 0.8, 0.1, 0.5, 0.6, 0.9))
  count <- 0
  for (name in names(data)) {
    if (is.factor(data[[name]])) {
      levels <- levels(data[[name]])
      data[[name]] <- factor(levels[(seq_len(nrow(data)) - 1) %% length(levels) + 1], levels)
    } else {
      count <- count %% 3 + 1
      ends <- range(data[[name]])
      value <- ends[1] + shares[[count]] * diff(ends)
      whole <- all(data[[name]] == round(data[[name]]))
      data[1:8, name] <- if (whole) round(value) else signif(value, 5)
    }
  }
  rows <- data[1:8, ]
  rownames(rows) <- NULL
  rows
}

# Quantiles, each with its error, unless they jump because responses are counts.
summarise <- function(draws, counts) {
  draws <- matrix(draws, ncol = 4)
  result <- list(mean = mean(draws), mean_error = mcse_mean(draws), sd = sd(draws),
                 sd_error = mcse_sd(draws))
  result <- lapply(result, signif, 9)
  if (counts) return(result)
  levels <- c(0.05, 0.5, 0.95)
  result$quantiles <- lapply(levels, function(level) {
    signif(c(unname(quantile(draws, level)), unname(mcse_quantile(draws, level))), 9)
  })
  result
}

describe <- function(case) {
  started <- Sys.time()
  data <- read(case$file)
  new <- new_rows(data)
  formula <- case$formula
  if (!is.null(case$response)) formula <- sub("^[^~]*~", paste(case$response, "~"), formula)
  family <- switch(case$family, logistic = binomial(), poisson = poisson(), gaussian = gaussian(),
                   gamma = Gamma(link = "log"), `negative-binomial` = neg_binomial_2())
  # The response of new rows only matters for trials.
  if (!is.null(case$trials)) new$germinated <- 0
  options <- list(as.formula(formula), data = data, family = family, chains = 4, warmup = 1500,
                  iter = 6500, refresh = 0, seed = 1965,
                  prior = normal(0, case$slope, autoscale = FALSE),
                  prior_intercept = normal(case$intercept[1], case$intercept[2], autoscale = FALSE))
  if (!is.null(case$aux)) options$prior_aux <- exponential(case$aux, autoscale = FALSE)
  fit <- do.call(stan_glm, options)
  # rstanarm does not evaluate offsets of formulas for new rows.
  offset <- if (case$family == "poisson") log(new$hours)
  drawn <- list(linear = posterior_linpred(fit, newdata = new, offset = offset),
                mean = posterior_epred(fit, newdata = new, offset = offset),
                response = posterior_predict(fit, newdata = new, offset = offset, seed = 1))
  rhats <- apply(as.array(fit), 3, rhat)
  cat(sprintf("%s %s: R-hat %.5f, divergences %d, %.0f s\n", case$family, case$file, max(rhats),
              rstan::get_num_divergent(fit$stanfit),
              as.numeric(Sys.time() - started, units = "secs")))
  stopifnot(max(rhats) < 1.005, rstan::get_num_divergent(fit$stanfit) == 0)
  text <- capture.output(write.csv(new, row.names = FALSE, quote = FALSE))
  priors <- list(prior = sprintf("normal(0, %g)", case$slope),
                 intercept_prior = sprintf("normal(%g, %g)", case$intercept[1], case$intercept[2]))
  if (!is.null(case$aux)) priors$aux_prior <- sprintf("exponential(%g)", case$aux)
  c(case[c("family", "file", "formula")], if (!is.null(case$trials)) list(trials = case$trials),
    priors, list(rows = paste0(text, "\n", collapse = "")),
    Map(function(each, kind) {
      counts <- kind == "response" && !(case$family %in% c("gaussian", "gamma"))
      apply(unname(each), 2, summarise, counts, simplify = FALSE)
    }, drawn, names(drawn)))
}

found <- lapply(cases, describe)
versions <- list(R = paste(R.version$major, R.version$minor, sep = "."),
                 rstanarm = as.character(packageVersion("rstanarm")),
                 rstan = as.character(packageVersion("rstan")))
document <- list(made_by = "Rscript scripts/oracles/predictions.R crates/fit/tests/data",
                 versions = versions, cases = found)
text <- toJSON(document, auto_unbox = TRUE, digits = NA)
text <- gsub('(\\},|\\[)(\\{"(mean|family)")', "\\1\n\\2", text)
writeLines(text, file.path(directory, "predictions.json"))

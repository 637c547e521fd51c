# Group effects of lme4 and penalised splines of mgcv, on a made-up table.
#
#     Rscript scripts/oracles/groups.R crates/frame/tests/data/groups
#
# Needs R 4.2, lme4, mgcv and jsonlite. Writes data.csv, groups.json and smooths.json into DIRECTORY.
# No code of ridgewalk is used. README.md beside the files describes their contents. Takes a few
# seconds.

suppressPackageStartupMessages({
  library(lme4)
  library(mgcv)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript groups.R DIRECTORY")
directory <- arguments[1]
dir.create(directory, showWarnings = FALSE, recursive = TRUE)
invisible(Sys.setlocale("LC_COLLATE", "C"))

# The table. Class numbers start anew in each school, and the last school has one class.

set.seed(20261, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
n <- 90
school <- sample(c("east", "north", "south", "west"), n, replace = TRUE)
class <- ifelse(school == "west", 1, sample(c(1, 2, 10), n, replace = TRUE))
data <- data.frame(
  y = round(rnorm(n), 3), x = round(rnorm(n), 3), z = round(runif(n, 1, 9), 2),
  f = sample(c("a", "b", "c"), n, replace = TRUE), h = sample(c("hi", "lo"), n, replace = TRUE),
  school = school, class = class, pupil = sample(1:25, n, replace = TRUE),
  t = round(c(0, 10, 10 * rbeta(n - 2, 1, 2)), 3))
write.csv(data, file.path(directory, "data.csv"), row.names = FALSE, quote = FALSE)
data <- read.csv(file.path(directory, "data.csv"))

versions <- list(r = as.character(getRversion()), lme4 = as.character(packageVersion("lme4")),
                 mgcv = as.character(packageVersion("mgcv")))
command <- "Rscript scripts/oracles/groups.R crates/frame/tests/data/groups"
store <- function(cases, file) {
  write_json(c(list(script = command), versions, list(cases = cases)),
             file.path(directory, file), auto_unbox = TRUE, digits = NA, matrix = "rowmajor")
}

# Group effects: for each term the coefficients, the levels, and of each row its level and the
# entries of Z for that level, outside of which its column of Zt must be 0.

formulas <- c(
  "y ~ (1 | school)", "y ~ x + (1 + x | school)", "y ~ x + (0 + x | school)", "y ~ (x | pupil)",
  "y ~ (x || school)", "y ~ (x + z || pupil)", "y ~ (1 | school/class)", "y ~ (x | school/class)",
  "y ~ (1 | school:class)", "y ~ (1 | class:school) + (1 | pupil)", "y ~ x + (1 | school) + (1 | pupil)",
  "y ~ (f | pupil)", "y ~ (0 + f | school)", "y ~ (f * x | school)", "y ~ (0 + f:x | pupil)",
  "y ~ (x:f | school)", "y ~ (f + h | school)", "y ~ (0 + f + h | school)",
  "y ~ poly(x, 2) + (poly(x, 2) | school)", "y ~ (log(z) + I(x^2) | school)",
  "y ~ (1 | school/class/h)", "y ~ (f || school)",
  "y ~ f * x + (x - 1 | pupil) + (1 | school:h)", "y ~ (1 | pupil) + (0 + x | pupil)")

ignored <- c("check.nobs.vs.rankZ", "check.nobs.vs.nlev", "check.nobs.vs.nRE", "check.nlev.gtr.1")
control <- do.call(lmerControl, as.list(setNames(rep("ignore", length(ignored)), ignored)))
groups <- lapply(formulas, function(formula) {
  found <- lFormula(as.formula(formula), data, control = control)$reTrms
  assign <- attr(found$flist, "assign")
  terms <- lapply(seq_along(found$Ztlist), function(k) {
    factor <- found$flist[[assign[k]]]
    z <- as.matrix(found$Ztlist[[k]])
    width <- length(found$cnms[[k]])
    stopifnot(nrow(z) == width * nlevels(factor))
    own <- lapply(seq_len(n), function(row) (as.integer(factor)[row] - 1) * width + seq_len(width))
    values <- t(matrix(sapply(seq_len(n), function(row) z[own[[row]], row]), nrow = width))
    rest <- sapply(seq_len(n), function(row) sum(abs(z[-own[[row]], row])))
    stopifnot(rest == 0)
    list(name = names(found$flist)[assign[k]], coefficients = I(found$cnms[[k]]),
         levels = I(levels(factor)), level = as.integer(factor) - 1, values = values)
  })
  list(formula = formula, terms = terms)
})
store(groups, "groups.json")

# Penalised least squares with cubic B-splines and the integral of the squared second derivative,
# by mgcv's basis and penalty on knots at equal spacing from the smallest to the largest value.

lambdas <- c(1e-3, 0.1, 1, 10, 1e3)
pieces <- function(x, k) {
  step <- diff(range(x)) / (k - 3)
  knots <- list(t = min(x) + step * (-3:k))
  smooth.construct(s(t, bs = "bs", m = c(3, 2), k = k), list(t = x), knots)
}
fitted <- function(X, S, lambda) drop(X %*% solve(crossprod(X) + lambda * S, crossprod(X, data$y)))
plain <- lapply(c(5, 10, 30), function(k) {
  found <- pieces(data$t, k)
  list(k = k, fitted = lapply(lambdas, function(l) fitted(found$X, found$S[[1]], l)))
})
# One smooth for each level of f, with its own constant.
found <- pieces(data$t, 8)
by <- do.call(cbind, lapply(c("a", "b", "c"), function(level) found$X * (data$f == level)))
by_factor <- lapply(lambdas, function(l) fitted(by, kronecker(diag(3), found$S[[1]]), l))
# The smooth times z, with z and the constant.
times <- cbind(1, found$X * data$z)
S <- rbind(0, cbind(0, found$S[[1]]))
by_number <- lapply(lambdas, function(l) fitted(times, S, l))
store(list(lambdas = lambdas, plain = plain, by_factor = by_factor, by_number = by_number),
      "smooths.json")

# Writes the public data sets of crates/fit/tests/data/mixed.
#
#     apt-get install r-cran-lme4 r-cran-rstanarm
#     Rscript scripts/oracles/mixed_data.R crates/fit/tests/data/mixed
#
# cbpp, sleepstudy and VerbAgg come from lme4, radon from rstanarm. Eight Schools is typed in from
# Rubin (1981). Rows keep their order, numbers have 15 significant digits. Changed: VerbAgg leaves
# out `resp` and `mode`, its response `r2` is 1 for yes and 0 for no; eight_schools has a column
# `weight` = 1 / sigma^2, which with a noise scale of 1 gives each row its known error. README.md in
# that directory has sources and licences.

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript mixed_data.R DIRECTORY")
directory <- arguments[1]

save <- function(data, name) {
  numbers <- sapply(data, is.numeric)
  data[numbers] <- lapply(data[numbers], function(x) format(x, digits = 15, trim = TRUE,
                                                            drop0trailing = TRUE))
  write.csv(data, file.path(directory, name), row.names = FALSE, quote = FALSE)
}

from <- function(name, package) {
  place <- new.env()
  data(list = name, package = package, envir = place)
  as.data.frame(place[[name]])
}

save(from("cbpp", "lme4")[c("incidence", "size", "period", "herd")], "cbpp.csv")
save(from("sleepstudy", "lme4")[c("Reaction", "Days", "Subject")], "sleepstudy.csv")

aggression <- from("VerbAgg", "lme4")
aggression$r2 <- as.integer(aggression$r2 == "Y")
save(aggression[c("r2", "Anger", "Gender", "item", "id", "btype", "situ")], "VerbAgg.csv")

save(from("radon", "rstanarm")[c("log_radon", "floor", "county", "log_uranium")], "radon.csv")

sigma <- c(15, 10, 16, 11, 9, 11, 10, 18)
schools <- data.frame(school = LETTERS[1:8], y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = sigma)
schools$weight <- sprintf("%.17g", 1 / sigma^2)
save(schools, "eight_schools.csv")

# Model matrices of R for several hundred formulas, on a made-up table and on new rows.
#
#     Rscript scripts/oracles/formulas.R crates/frame/tests/data/formulas
#
# Needs R 4.2 and its base packages. Writes data.csv, new.csv and formulas.json into DIRECTORY. No
# code of ridgewalk is used. README.md beside the files describes their contents. Takes a few
# seconds.
#
# Formulas are written in our syntax. R parses them too, once `[ ]` of a list of levels is `c( )`;
# `to_r` then replaces the calls that R has not: center, our C, and `s | trials(n)`. Our column
# names are R's, with levels and numbers of basis columns in brackets. They are not edited
# afterwards: a second model frame, whose factors have levels such as "[b]", gets its names from R,
# and must have the same matrix as the first.
#
# New rows are coded as predict() does it, by makepredictcall. It leaves three things unlearned,
# which `learn` adds: transforms inside of others, the intervals of cut(x, 3), and the levels within
# C(). Where predict() alone fails or differs, the case says so under `r_predict`.

suppressMessages(library(splines))
invisible(Sys.setlocale("LC_COLLATE", "C"))
options(contrasts = c("contr.treatment", "contr.poly"))

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 1) stop("usage: Rscript formulas.R DIRECTORY")
directory <- arguments[1]

# The tables.

make_data <- function() {
  grid <- expand.grid(f = c("a", "b", "c"), g = c("u", "v"), h = c("lo", "mid", "hi"),
                      stringsAsFactors = FALSE)
  grid <- grid[sample(c(rep(seq_len(nrow(grid)), 3), sample(nrow(grid), 7))), ]
  rows <- nrow(grid)
  n <- sample(4:20, rows, replace = TRUE)
  x <- round(rnorm(rows, 0.1, 1), 2)
  z <- round(runif(rows, 0.2, 3) * sample(c(-1, 1), rows, replace = TRUE), 2)
  data.frame(
    y = round(1 + x - 0.5 * z + rnorm(rows), 2), x = x, z = z,
    w = round(rexp(rows, 0.6) + 0.05, 3), n = n, s = rbinom(rows, n, 0.4),
    k = sample(1:4, rows, replace = TRUE), dose = sample(c(0, 0.5, 1, 2.5), rows, replace = TRUE),
    f = grid$f, g = grid$g, h = grid$h, `odd name` = round(runif(rows, 1, 9), 1),
    check.names = FALSE)
}

# Rows beyond the range of x, z and w on both sides, without the levels f = b, h = mid and k = 2.
make_new <- function() {
  data.frame(
    x = c(-4.5, -1.25, -0.5, 0, 0.33, 0.5, 1.4, 2.05, 5.25),
    z = c(0.4, -6, 1.1, -0.75, 2, 7.5, -1.6, 0.9, -2.2),
    w = c(0.01, 0.4, 0.75, 1, 1.5, 2.125, 3, 20, 0.06), n = c(3, 8, 12, 5, 30, 7, 9, 16, 11),
    k = c(1, 3, 4, 4, 3, 1, 1, 3, 4), dose = c(0, 0.5, 0, 1, 1, 2.5, 0, 0.5, 1),
    f = c("a", "c", "c", "a", "c", "a", "a", "c", "c"),
    g = c("v", "u", "u", "v", "v", "u", "v", "u", "v"),
    h = c("lo", "hi", "hi", "lo", "lo", "hi", "lo", "hi", "hi"),
    `odd name` = c(0.5, 2, 3.3, 4.1, 5, 6.6, 7, 8.2, 12), check.names = FALSE)
}

# Writes the table and reads it back, so that the matrices belong to the file.
through_file <- function(table, name) {
  path <- file.path(directory, name)
  write.csv(table, path, row.names = FALSE, quote = FALSE)
  read.csv(path, check.names = FALSE)
}

# Our formulas and R's.

text <- function(e) paste(deparse(e, width.cutoff = 500), collapse = " ")
head_of <- function(e) if (is.call(e) && is.symbol(e[[1]])) as.character(e[[1]]) else ""
parsed <- function(ours) str2lang(gsub("]", ")", gsub("[", "c(", ours, fixed = TRUE), fixed = TRUE))

# Our C() in R: the column as a factor, then its contrasts. `kind` names the columns.
contrast <- function(e) {
  column <- call("factor", e[[2]])
  levels <- levels(eval(column, data))
  if (!is.null(e$base)) {
    base <- match(e$base, levels)
    code <- call("contr.treatment", as.numeric(length(levels)), base = as.numeric(base))
    return(list(r = call("C", column, code), columns = function(l) l[-base]))
  }
  if (!is.null(e$levels)) {
    return(list(r = call("factor", e[[2]], levels = e$levels), columns = function(l) l[-1]))
  }
  kind <- as.character(e[[3]])
  list(r = call("C", column, as.name(paste0("contr.", kind))),
       columns = switch(kind, treatment = function(l) l[-1],
                        sum = function(l) paste0("S.", l[-length(l)]),
                        helmert = function(l) paste0("H.", l[-1])))
}

to_r <- function(e) {
  if (!is.call(e)) return(e)
  if (head_of(e) == "C") return(contrast(e)$r)
  e <- as.call(lapply(e, to_r))
  switch(head_of(e),
    center = call("scale", e[[2]], scale = FALSE),
    `|` = call("cbind", e[[2]], call("-", e[[3]][[2]], e[[2]])),
    e)
}

# Parameters from the training data.

# The breaks of cut(x, count), as cut.default makes them.
equal_breaks <- function(x, count) {
  ends <- range(x)
  breaks <- seq.int(ends[1], ends[2], length.out = count + 1)
  breaks[c(1, count + 1)] <- ends + c(-1, 1) * diff(ends) / 1000
  breaks
}

# The call with all that it learns from the training data written into it.
learn <- function(e, table) {
  if (!is.call(e)) return(e)
  value <- function(call) eval(call, table)
  inner <- as.call(c(e[[1]], lapply(as.list(e)[-1], learn, table)))
  name <- head_of(e)
  # scale() makes a matrix, whose polynomials poly() cannot repeat for new rows.
  if (name == "poly") inner[[2]] <- call("c", inner[[2]])
  if (name %in% c("scale", "poly", "bs", "ns")) return(makepredictcall(value(inner), inner))
  if (name == "cut" && length(value(e[[3]])) == 1) {
    fixed <- inner
    fixed[[3]] <- equal_breaks(value(e[[2]]), value(e[[3]]))
    fixed$labels <- levels(value(e))
    stopifnot(identical(value(fixed), value(e)))
    return(fixed)
  }
  if (name == "C") inner[[2]]$levels <- levels(value(e[[2]]))
  inner
}

# Model matrices.

# The columns of the training matrix under our names. `variables` are the calls of our formula in
# the order of the columns of the model frame.
our_names <- function(frame, variables) {
  terms <- terms(frame)
  labels <- vapply(variables, function(v) if (head_of(v) == "C") text(v[[2]]) else text(v), "")
  labels <- gsub("^`(.*)`$", "\\1", labels)
  for (i in setdiff(seq_along(frame), c(attr(terms, "response"), attr(terms, "offset")))) {
    v <- frame[[i]]
    if (is.matrix(v) && ncol(v) > 1) {
      colnames(frame[[i]]) <- paste0("[", seq_len(ncol(v)), "]")
    } else if (is.factor(v) || is.character(v) || is.logical(v)) {
      v <- as.factor(if (is.logical(v)) factor(v, c(FALSE, TRUE)) else v)
      code <- contrasts(v)
      own <- head_of(variables[[i]]) == "C"
      columns <- if (own) contrast(variables[[i]])$columns else function(l) l[-1]
      colnames(code) <- paste0("[", columns(levels(v)), "]")
      levels(v) <- rownames(code) <- paste0("[", levels(v), "]")
      contrasts(v) <- code
      frame[[i]] <- v
    }
  }
  names(frame) <- labels
  attr(terms, "variables") <- as.call(c(quote(list), lapply(labels, as.name)))
  if (length(attr(terms, "factors"))) rownames(attr(terms, "factors")) <- labels
  attr(frame, "terms") <- terms
  model.matrix(terms, frame)
}

# Matrix and offset of new rows, by the variables in attribute predvars of the terms.
code_new <- function(terms, frame, matrix, table) {
  found <- model.frame(terms, table, xlev = .getXlevels(terms(frame), frame), na.action = na.pass)
  list(matrix = unname(model.matrix(terms, found, contrasts.arg = attr(matrix, "contrasts"))),
       offset = model.offset(found), missing = which(!complete.cases(found)))
}

same <- function(a, b) isTRUE(all.equal(c(a), c(b), tolerance = 1e-12))

# Rank of a matrix with columns of length 1.
rank_of <- function(m) {
  if (ncol(m) == 0) return(0)
  values <- svd(sweep(m, 2, pmax(sqrt(colSums(m^2)), 1e-300), "/"))$d
  sum(values > 1e-9 * values[1])
}

describe <- function(kind, ours, exclude) {
  table <- data[setdiff(names(data), exclude)]
  mine <- eval(parsed(ours))
  theirs <- to_r(parsed(ours))
  frame <- model.frame(eval(theirs), table)
  matrix <- model.matrix(terms(frame), frame)
  named <- our_names(frame, as.list(attr(terms(mine, data = table), "variables"))[-1])
  stopifnot(identical(c(matrix), c(named)), !anyDuplicated(colnames(named)), !anyNA(matrix))
  if (!grepl("C\\(|center|cut", ours)) {
    expected <- gsub("(^|:)`([^`]*)`", "\\1\\2", colnames(matrix))
    stopifnot(gsub("[][]", "", colnames(named)) == expected)
  }
  plain <- delete.response(terms(frame))
  learned <- plain
  attr(learned, "predvars") <- as.call(c(quote(list),
    lapply(as.list(attr(plain, "variables"))[-1], learn, table)))
  again <- suppressWarnings(code_new(learned, frame, matrix, table))
  stopifnot(same(again$matrix, matrix), !length(again$missing))
  safe <- suppressWarnings(code_new(learned, frame, matrix, new))
  usual <- suppressWarnings(tryCatch(code_new(plain, frame, matrix, new), error = function(e) NULL))
  case <- list(kind = kind, formula = ours, r = text(theirs))
  if (length(exclude)) case$exclude <- I(exclude)
  case$names <- I(colnames(named))
  case$matrix <- unname(matrix)[stored, , drop = FALSE]
  case$new <- safe$matrix
  attr(case$new, "missing") <- safe$missing
  if (!is.null(safe$offset)) {
    case$offset <- I(model.offset(frame)[stored])
    case$new_offset <- I(safe$offset)
  }
  if (is.null(usual)) case$r_predict <- "fails"
  else if (!same(usual$matrix, safe$matrix)) case$r_predict <- "differs"
  rank <- rank_of(matrix)
  if (rank < ncol(matrix)) case$rank <- rank
  case
}

# The formulas, as lists of right-hand sides.

# Every template with its A, B and D replaced by every set of variables.
fill <- function(templates, sets) {
  unlist(lapply(sets, function(set) vapply(templates, function(template) {
    pieces <- strsplit(template, "")[[1]]
    at <- match(pieces, c("A", "B", "D"))
    paste(ifelse(is.na(at), pieces, set[at]), collapse = "")
  }, "", USE.NAMES = FALSE)))
}

pairs <- fill(
  c("A + B", "A:B", "A * B", "A/B", "A %in% B", "A + A:B", "B + A:B", "A:B + A", "A:B - 1",
    "0 + A + B", "A + B + 0", "0 + B + A:B", "A * B - A", "A * B - B", "A * B - A:B",
    "A + B %in% A", "0 + A * B", "- 1 + A/B", "(A + B)^2 - 1", "A + B - A"),
  list(c("f", "g"), c("f", "x"), c("z", "h"), c("x", "z"), c("I(x > 0)", "f"), c("w", "factor(k)")))

triples <- fill(
  c("A * B * D", "(A + B + D)^2", "(A + B + D)^3", "(A + B)/D", "A/(B + D)", "A/B/D", "A:B:D",
    "A * B * D - A:B:D", "A * B + D", "A + B:D", "A:B + D", "A:B + A:D", "A:B + B:D + A:D",
    "(A + B + D)^2 - A:B", "0 + (A + B + D)^2", "A * B * D - A", "A:B:D + A:B", "0 + A:B:D",
    "(A + B) %in% D", "A * (B + D)", "D + B:A + A", "(A + B):D", "A + B:D %in% A"),
  list(c("f", "g", "x"), c("x", "z", "f"), c("f", "g", "h"), c("h", "x", "g")))

plain <- c(
  "1", "0 + x", "x - 1", "f", "0 + f", "f - 1", "- 1 + h + x", "x + z + w + k + dose", "dose",
  "f + g + h", "0 + h + g + f", "`odd name`", "`odd name` + f", "`odd name` * f", "x:`odd name`",
  "`odd name`:x + z", "log(`odd name`) + x", "poly(`odd name`, 2):g", "I(`odd name`/2)", "x + x",
  "f + f:f", "x^2", "(f + f:g)^2", "f:g + g:f", "1 + x - 1", "x + 0 + 1", "f * g - f:g - g",
  "f * x + z %in% g", "x + (z + w)", "x - z + w - x")

# Names follow R's deparse, whatever the spaces in the formula.
spaced <- c(
  "x+f", "x*f-1", "poly(x,2)", "I( x^2 )+log( w )", "I(x*z)", "bs(x,df=5)", "I(x>0)", "  x:f",
  "(x+z)^2", "poly(x,2,raw=TRUE)", "ns(x,knots=c(0,0.7))", "I((x+1)*z)", "I(x / z)", "I(-x)",
  "I(x^2+z^2)", "log(w+1)")

transforms <- c(
  "I(x^2)", "I(x * z)", "I(x + 1)", "I(x/z)", "log(w)", "log1p(w)", "exp(x/10)", "sqrt(w)",
  "abs(x)", "log(w + 1)", "log2(w)", "log10(w)", "scale(x)", "center(x)", "scale(log(w))",
  "I(-x^2)", "I((x + z)/2)", "I(2 * x - z)", "sqrt(abs(x))", "I(log(w)^2)", "exp(-w)", "I(1/w)",
  "I(x - z - w)")
bases <- c(
  "poly(x, 1)", "poly(x, 2)", "poly(x, 3)", "poly(x, 2, raw = TRUE)", "poly(w, 4)", "bs(x, df = 5)",
  "bs(x, knots = c(-0.5, 0.5))", "bs(x, df = 6, degree = 2)", "bs(w)", "bs(z, df = 4, degree = 1)",
  "ns(x, df = 3)", "ns(x, knots = c(0, 0.7))", "ns(w, df = 4)", "ns(x)", "poly(log(w), 2)",
  "bs(log(w), df = 4)")
cuts <- c("cut(x, c(-10, -0.5, 0.5, 10))", "cut(x, 3)", "factor(k)", "factor(dose)", "I(x > 0)",
          "I(x > 0 & z < 1)", "I(k == 2)", 'factor(f, levels = c("c", "b", "a"))')
# Transforms inside of others: predict() learns only the outer one.
nested <- c(
  "log(scale(w) + 5)", "I(scale(w)^2)", "I(center(x)^2)", "I(center(x) * z)", "abs(center(x))",
  "poly(scale(x), 2)", "scale(abs(center(x)))", "exp(scale(x)/10)", "I(scale(x) > 0)",
  "center(log(w))", "scale(x * z)", "scale(I(x^2))", "I(center(x) * center(z))",
  "f * I(center(x)^2)", "bs(center(x), df = 4)", "cut(center(x), 3)")

contrasted <- c(
  sprintf("C(f, %s)", c('base = "b"', 'base = "c"', "sum", "helmert", "treatment",
                        'levels = ["c", "a", "b"]')),
  "C(h, helmert)", 'C(h, levels = ["lo", "mid", "hi"])', "C(g, sum)", "C(k, sum)",
  "C(k, treatment)", "C(dose, helmert)")

of_transforms <- c(
  fill(c("A", "f * A", "0 + A:x"), transforms[1:14]), fill(c("A", "g:A"), transforms[15:23]))
of_bases <- c(
  fill(c("A", "f + A"), bases), fill(c("g * A", "A:f", "h/A - 1"), bases[c(2, 4, 6, 11, 13)]))
of_factors <- fill(c("A", "0 + A", "A * z", "z:A + g"), cuts)
of_contrasts <- c(
  fill(c("A", "0 + A", "A * x", "x:A"), contrasted),
  fill(c("A * B", "A:B", "0 + B:A"), list(
    c("C(f, sum)", "g"), c("C(f, helmert)", "C(g, sum)"), c('C(f, base = "b")', "C(h, sum)"),
    c("C(k, sum)", "C(f, treatment)"))))

offsets <- c("x + offset(log(n))", "offset(log(n))", "f * x + offset(log(n)) - 1",
             "offset(log(n)) + offset(w) + x:f", "offset(x) + poly(w, 2)", "0 + offset(log(n)) + f")
trials <- c(
  "x", "f * x", "0 + f:g", "poly(x, 2) + C(h, sum)", "log(w) + (f + g)^2", "x + offset(log(w))")

# `.` is every column but the response; `exclude` drops columns from the table first.
text_only <- c("x", "z", "w", "n", "s", "k", "dose", "odd name")
dots <- list(
  list(".", c("s")), list(". - x", c("s")), list(". - 1", c("s", "n")),
  list("0 + .", c("s", "n", "k")), list(".^2", c("s", "n", "k", "dose", "w", "odd name")),
  list(".^2 - x:z", c("s", "n", "k", "dose", "h")), list(".^2", text_only), list(".^3", text_only),
  list(".^2 - f:g - h", text_only), list(". - f - `odd name`", c("s")),
  list(". + I(x^2)", c("s", "n")), list("f * .", c("s", "n", "k", "w")),
  list(". + x:f", c("s", "n", "dose")), list("log(w) + . - w", c("s", "n")),
  list(".:x", c("s", "n", "k", "g")), list("x + .", c("s")),
  list("(. - h)^2", c("s", "n", "k", "dose", "w", "odd name")))

# A random right-hand side: up to four variables of different columns, joined by random operators.
columns_of <- function(variable) all.vars(parsed(variable))
random_formula <- function() {
  pool <- c("x", "z", "w", "f", "f", "g", "g", "h", "h", "`odd name`", "factor(k)",
            transforms[1:13], bases[c(2, 4, 7, 10, 12)], cuts[c(1, 5)],
            contrasted[c(1, 3, 4, 8, 10)])
  chosen <- character()
  for (variable in sample(pool)) {
    taken <- unlist(lapply(chosen, columns_of))
    if (!any(columns_of(variable) %in% taken)) chosen <- c(chosen, variable)
    if (length(chosen) == 4) break
  }
  chosen <- head(chosen, sample(2:4, 1, prob = c(1, 3, 3)))
  term <- function() paste(sample(chosen, sample(2, 1)), collapse = ":")
  piece <- function() {
    two <- sample(chosen, 2)
    switch(sample(8, 1), term(), term(), paste(two[1], "*", two[2]), paste0(two[1], "/", two[2]),
           paste(two[1], "%in%", two[2]), paste0("(", paste(chosen, collapse = " + "), ")^2"),
           paste(sample(chosen, min(3, length(chosen))), collapse = ":"), two[1])
  }
  sides <- replicate(sample(3, 1), piece())
  body <- paste(sides, collapse = " + ")
  if (runif(1) < 0.3) body <- paste(body, "-", term())
  switch(sample(6, 1), paste("0 +", body), paste(body, "- 1"), body, body, body, body)
}

# Output. Numbers have 17 digits; row `missing` of a matrix is null.

json <- function(value) {
  string <- function(s) paste0('"', gsub('(["\\\\])', "\\\\\\1", s), '"')
  number <- function(v) sprintf("%.17g", v)
  if (is.matrix(value)) {
    rows <- apply(value, 1, function(r) paste0("[", paste(number(r), collapse = ","), "]"))
    if (ncol(value) == 0) rows <- rep("[]", nrow(value))
    rows[attr(value, "missing")] <- "null"
    paste0("[", paste(rows, collapse = ","), "]")
  } else if (is.list(value)) {
    paste0("{", paste(sprintf("%s: %s", string(names(value)), vapply(value, json, "")),
                      collapse = ",\n   "), "}")
  } else {
    each <- if (is.character(value)) string(value) else number(value)
    if (inherits(value, "AsIs")) paste0("[", paste(each, collapse = ", "), "]") else each
  }
}

set.seed(4711, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
data <- through_file(make_data(), "data.csv")
new <- through_file(make_new(), "new.csv")
stopifnot(table(data$f, data$g, data$h) > 0)
stored <- sort(unique(c(seq(1, nrow(data), by = 4), nrow(data))))

with_response <- function(right, left = "y") paste(left, "~", right)
groups <- lapply(list(plain = plain, spaced = spaced, pairs = pairs, triples = triples,
                      transforms = of_transforms, bases = of_bases, factors = of_factors,
                      nested = nested, contrasts = of_contrasts, offsets = offsets), with_response)
groups$trials <- with_response(trials, "s | trials(n)")
cases <- list()
listed <- character()
add <- function(kind, ours, exclude = character()) {
  key <- paste(c(ours, exclude), collapse = ",")
  if (key %in% listed) return()
  case <- describe(kind, ours, exclude)
  if (kind == "random" && !ncol(case$matrix) %in% 1:30) return()
  listed <<- c(listed, key)
  cases <<- c(cases, list(case))
}
for (kind in names(groups)) for (ours in groups[[kind]]) add(kind, ours)
for (dot in dots) add("dots", with_response(dot[[1]]), dot[[2]])
wanted <- length(cases) + 120
while (length(cases) < wanted) add("random", with_response(random_formula()))

values <- function(key) unlist(lapply(cases, `[[`, key))
print(table(values("kind")))
cat(length(cases), "cases;", length(values("rank")), "short of full rank; predict() alone:\n")
print(table(values("r_predict")))
command <- "Rscript scripts/oracles/formulas.R crates/frame/tests/data/formulas"
preamble <- sprintf('{"script": "%s",
 "r": "%s", "splines": "%s",
 "rows": %s,
 "cases": [\n  ', command, getRversion(), packageVersion("splines"), json(I(stored - 1)))
writeLines(paste0(preamble, paste(vapply(cases, json, ""), collapse = ",\n  "), "\n ]}"),
           file.path(directory, "formulas.json"))

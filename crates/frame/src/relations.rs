//! Columns of a design that are linear combinations of those before them.

/// Rows that candidates are found in; a relation that they show is confirmed in all rows.
const SAMPLED: usize = 4_000;
/// Designs with more columns are not searched.
const COLUMNS: usize = 600;
/// A column may be determined if this part of its sum of squares, or less, is not explained.
const CANDIDATE: f64 = 1e-9;
/// It is if no row differs by more than this, relative to the largest entries. R's `lm` uses the
/// same number.
const CONFIRMED: f64 = 1e-7;
/// Factors below this, relative to the largest, are rounding.
const NEGLIGIBLE: f64 = 1e-8;

/// A column and what it is the sum of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Relation {
    /// The column.
    pub(crate) column: usize,
    /// Other columns and their factors, without the intercept; none for a constant column.
    pub(crate) terms: Vec<(usize, f64)>,
    /// Whether it is 0 in every row.
    pub(crate) zero: bool,
}

/// The columns that those before them determine, up to a constant where the model has one; `None`
/// if there are too many columns to search. The first column may be the intercept.
pub(crate) fn relations(
    design: &[f64], columns: usize, intercept: bool, constant: bool,
) -> Option<Vec<Relation>> {
    if columns > COLUMNS {
        return None;
    }
    let rows = design.len().checked_div(columns).unwrap_or(0);
    let stride = rows.div_ceil(SAMPLED.max(4 * columns)).max(1);
    let sampled: Vec<&[f64]> = design.chunks_exact(columns.max(1)).step_by(stride).collect();
    let basis = Columns::new(&sampled, columns, constant);
    let mut search = Search { basis, kept: Vec::new(), factors: Vec::new() };
    let mut found = Vec::new();
    for column in usize::from(intercept)..columns {
        let (left, solution) = search.project(column);
        if left > CANDIDATE {
            search.keep(column);
        } else {
            found.extend(confirm(design, columns, constant, column, &solution));
        }
    }
    Some(found)
}

/// Centred and scaled columns of some rows.
struct Columns {
    values: Vec<Vec<f64>>,
    scales: Vec<f64>,
}

impl Columns {
    fn new(rows: &[&[f64]], columns: usize, centred: bool) -> Self {
        let n = rows.len() as f64;
        let (mut values, mut scales) = (Vec::new(), Vec::new());
        for column in 0..columns {
            let mut own: Vec<f64> = rows.iter().map(|row| row[column]).collect();
            let size = own.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
            if centred {
                let mean = own.iter().sum::<f64>() / n;
                own.iter_mut().for_each(|value| *value -= mean);
            }
            let norm = own.iter().map(|value| value * value).sum::<f64>().sqrt();
            // What is left of a constant after its mean is rounding.
            let scale = if norm > 1e-12 * size * n.sqrt() { norm } else { 0.0 };
            own.iter_mut()
                .for_each(|value| *value = if scale > 0.0 { *value / scale } else { 0.0 });
            values.push(own);
            scales.push(scale);
        }
        Self { values, scales }
    }
}

/// Columns that are independent so far, orthonormal, with how they are made of the given ones.
struct Search {
    basis: Columns,
    /// Each with its orthonormal direction.
    kept: Vec<(usize, Vec<f64>)>,
    /// The factors of the kept columns in each direction.
    factors: Vec<Vec<f64>>,
}

impl Search {
    /// How much of a column the kept ones leave, and its factors in terms of them.
    fn project(&self, column: usize) -> (f64, Vec<(usize, f64)>) {
        let (rest, along) = self.reduce(column);
        let left: f64 = rest.iter().map(|value| value * value).sum();
        let mut factors = vec![0.0; self.kept.len()];
        for (direction, along) in self.factors.iter().zip(&along) {
            factors.iter_mut().zip(direction).for_each(|(sum, factor)| *sum += along * factor);
        }
        let scale = |column: usize| self.basis.scales[column];
        let own = scale(column);
        let terms = self.kept.iter().zip(factors);
        let terms = terms.map(|((other, _), factor)| (*other, factor * own / scale(*other)));
        (left, terms.collect())
    }

    /// What is left of a column, and its parts along the directions. Twice, against rounding.
    fn reduce(&self, column: usize) -> (Vec<f64>, Vec<f64>) {
        let mut rest = self.basis.values[column].clone();
        let mut along = vec![0.0; self.kept.len()];
        for _ in 0..2 {
            for ((_, direction), along) in self.kept.iter().zip(&mut along) {
                let part: f64 = rest.iter().zip(direction).map(|(a, b)| a * b).sum();
                rest.iter_mut().zip(direction).for_each(|(a, b)| *a -= part * b);
                *along += part;
            }
        }
        (rest, along)
    }

    /// Adds a column to the kept ones.
    fn keep(&mut self, column: usize) {
        let (mut rest, along) = self.reduce(column);
        let norm = rest.iter().map(|value| value * value).sum::<f64>().sqrt();
        rest.iter_mut().for_each(|value| *value /= norm);
        let mut factors = vec![0.0; self.kept.len() + 1];
        for (direction, along) in self.factors.iter().zip(&along) {
            for (sum, factor) in factors.iter_mut().zip(direction) {
                *sum -= along * factor / norm;
            }
        }
        if let Some(last) = factors.last_mut() {
            *last = 1.0 / norm;
        }
        self.kept.push((column, rest));
        self.factors.push(factors);
    }
}

/// The relation if it holds in every row.
fn confirm(
    design: &[f64], columns: usize, constant: bool, column: usize, terms: &[(usize, f64)],
) -> Option<Relation> {
    let sizes = |column: usize| {
        design.chunks_exact(columns).fold(0.0_f64, |size, row| size.max(row[column].abs()))
    };
    let parts: Vec<f64> =
        terms.iter().map(|(other, factor)| factor.abs() * sizes(*other)).collect();
    let own = sizes(column);
    let size = parts.iter().copied().fold(own, f64::max);
    let kept = terms.iter().zip(&parts).filter(|(_, part)| **part > NEGLIGIBLE * size);
    let terms: Vec<(usize, f64)> = kept.map(|(term, _)| *term).collect();
    let left = |row: &[f64]| {
        row[column] - terms.iter().map(|(other, factor)| factor * row[*other]).sum::<f64>()
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in design.chunks_exact(columns) {
        let value = left(row);
        (low, high) = (low.min(value), high.max(value));
    }
    let holds = if constant { high - low } else { low.abs().max(high.abs()) };
    (holds <= CONFIRMED * size).then_some(Relation { column, terms, zero: own == 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns from a fixed sequence of numbers.
    fn design(rows: usize, made: impl Fn(&[f64; 3]) -> Vec<f64>) -> (Vec<f64>, usize) {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut all = Vec::new();
        let mut columns = 0;
        for _ in 0..rows {
            let row = made(&[next(), 100.0 * next(), next() - 0.5]);
            columns = row.len();
            all.extend(row);
        }
        (all, columns)
    }

    #[test]
    fn a_sum_of_columns_is_found_with_its_factors() {
        for rows in [12, 50_000] {
            let (all, columns) =
                design(rows, |[a, b, c]| vec![1.0, *a, *b, 3.0 + 2.0 * a - 0.5 * b, *c]);
            let found = relations(&all, columns, true, true).unwrap();
            let [relation] = &found[..] else { panic!("{found:?}") };
            assert_eq!(relation.column, 3);
            let [(1, two), (2, half)] = relation.terms[..] else { panic!("{relation:?}") };
            assert!((two - 2.0).abs() < 1e-9 && (half + 0.5).abs() < 1e-9);
            // Without a constant to absorb the 3 there is no relation.
            let (all, columns) = design(rows, |[a, b, _]| vec![*a, *b, 3.0 + 2.0 * a - 0.5 * b]);
            assert_eq!(relations(&all, columns, false, false).unwrap(), []);
        }
    }

    #[test]
    fn what_only_the_sampled_rows_show_is_not_reported() {
        let rows = 50_000;
        // A column that differs from another in one row, which the sample leaves out.
        let (mut all, columns) = design(rows, |[a, b, _]| vec![1.0, *a, *b, *a]);
        all[4 * 12_346 + 3] += 0.5;
        assert_eq!(relations(&all, columns, true, true).unwrap(), []);
        all[4 * 12_346 + 3] -= 0.5;
        assert_eq!(relations(&all, columns, true, true).unwrap().len(), 1);
    }

    #[test]
    fn zeros_and_constants_are_told_apart_and_close_columns_are_not_dependent() {
        let (all, columns) = design(200, |[a, _, c]| vec![1.0, *a, 0.0, a + 1e-3 * c]);
        let found = relations(&all, columns, true, true).unwrap();
        assert_eq!(found, [Relation { column: 2, terms: Vec::new(), zero: true }]);
        let (all, columns) = design(200, |[a, _, _]| vec![1.0, *a, 7.0]);
        let found = relations(&all, columns, true, true).unwrap();
        assert_eq!(found, [Relation { column: 2, terms: Vec::new(), zero: false }]);
    }
}

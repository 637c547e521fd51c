//! Group effects next to what the rows of each level say alone, without the other levels: how far
//! estimates are pulled to their common mean.

use ridgewalk_frame::{FamilyName, GroupEntries, Grouping};
use serde::{Deserialize, Serialize};

use super::{Sample, numbers};
use crate::config::Config;
use crate::groups::visit;
use crate::predict::Posterior;

/// A pivot below this share of its diagonal entry is 0: the rows of a level do not tell its
/// coefficients apart.
const SINGULAR: f64 = 1e-9;

/// One grouping of a Gaussian model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupCheck {
    /// The grouping factor.
    pub name: String,
    /// The mean over rows of the products of the columns of its coefficients, row after row: with the
    /// covariance of the effects it gives the variance that they add.
    #[serde(deserialize_with = "numbers::list")]
    pub moments: Vec<f64>,
    /// Each effect by least squares from the rows of its level alone, all other terms of the model at
    /// their posterior means; not finite if these rows do not tell. Empty if rows were left out.
    #[serde(deserialize_with = "numbers::list")]
    pub alone: Vec<f64>,
}

/// The groupings of a Gaussian model, but not its smooths.
pub(super) fn checks(config: &Config, posterior: &Posterior, sample: &Sample) -> Vec<GroupCheck> {
    let gaussian = config.options.family == FamilyName::Gaussian;
    if !gaussian || config.options.prior_only || posterior.groups().is_empty() {
        return Vec::new();
    }
    let observed = &sample.observed;
    let rows = observed.rows();
    let mean = |s: &[f64]| s.iter().sum::<f64>() / s.len() as f64;
    let fitted: Vec<f64> =
        posterior.map_rows(observed.design(), 0..rows, || (), |(), room, _| mean(&room.s));
    let residuals = observed.responses().iter().zip(&fitted).map(|(y, fitted)| y - fitted);
    let residuals: Vec<f64> = residuals.collect();
    let weights = observed.frame().weights.as_deref();
    let complete = rows == sample.of;
    let each = posterior.groups().iter().map(|draws| {
        let grouping = &observed.frame().groups[draws.grouping()];
        let alone = || alone(grouping, &draws.means(), &residuals, weights);
        (grouping, if complete { alone() } else { Vec::new() })
    });
    let plain = each.filter(|(grouping, _)| !grouping.smooth);
    let one = |(grouping, alone): (&Grouping, Vec<f64>)| GroupCheck {
        name: grouping.name.clone(),
        moments: moments(grouping, rows),
        alone,
    };
    plain.map(one).collect()
}

/// The entries of a row.
fn entries(grouping: &Grouping, row: usize, into: &mut Vec<(usize, f64)>) {
    into.clear();
    visit(grouping, row, |effect, x| into.push((effect, x)));
}

fn moments(grouping: &Grouping, rows: usize) -> Vec<f64> {
    let wide = grouping.coefficients.len();
    let (mut sums, mut own) = (vec![0.0; wide * wide], Vec::new());
    for row in 0..rows {
        entries(grouping, row, &mut own);
        // Two levels that are compared have effects that are independent.
        for level in own.chunks_exact(wide) {
            for (j, (_, x)) in level.iter().enumerate() {
                level.iter().enumerate().for_each(|(k, (_, z))| sums[j * wide + k] += x * z);
            }
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= rows as f64);
    sums
}

/// Least squares in each level.
fn alone(
    grouping: &Grouping, effects: &[f64], residuals: &[f64], weights: Option<&[f64]>,
) -> Vec<f64> {
    let wide = grouping.coefficients.len();
    let GroupEntries::Levels { .. } = &grouping.entries else { return Vec::new() };
    // The normal equations of each level, with their right sides in the last column.
    let each = wide * (wide + 1);
    let mut systems = vec![0.0; grouping.levels.len() * each];
    let mut own = Vec::new();
    for (row, residual) in residuals.iter().enumerate() {
        entries(grouping, row, &mut own);
        let Some((first, _)) = own.first() else { continue };
        let y = residual + own.iter().map(|(effect, x)| x * effects[*effect]).sum::<f64>();
        let weight = weights.map_or(1.0, |weights| weights[row]);
        let system = &mut systems[first / wide * each..][..each];
        for (j, (_, x)) in own.iter().enumerate() {
            let line = &mut system[j * (wide + 1)..][..wide + 1];
            let right = own.iter().map(|(_, z)| *z).chain([y]);
            line.iter_mut().zip(right).for_each(|(sum, z)| *sum += weight * x * z);
        }
    }
    let solve = |system: &[f64]| solved(system, wide).unwrap_or_else(|| vec![f64::NAN; wide]);
    systems.chunks_exact(each).flat_map(solve).collect()
}

/// The solution of a positive definite system by elimination; `None` if it is singular.
fn solved(system: &[f64], wide: usize) -> Option<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = system.chunks_exact(wide + 1).map(<[f64]>::to_vec).collect();
    for k in 0..wide {
        let (pivot, size) = (rows[k].clone(), system[k * (wide + 2)]);
        if !(pivot[k] > SINGULAR * size) {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != k) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= factor * b);
        }
    }
    Some(rows.iter().enumerate().map(|(k, row)| row[wide] / row[k]).collect())
}

#[cfg(test)]
mod tests {
    use ridgewalk_frame::{Frame, Question, Table};

    use super::*;

    #[test]
    fn levels_alone_are_least_squares() {
        let table = Table::from_bytes("d.csv", b"y,x,g\n1,0,a\n3,1,a\n5,2,a\n7,5,b\n").unwrap();
        let question = Question::of_formula("y ~ (x | g)".parse().unwrap(), FamilyName::Gaussian);
        let frame = Frame::new(&table, &question).unwrap();
        let grouping = &frame.groups[0];
        // With effects of 0 the residuals are the responses: 1 + 2 x in level a.
        let found = alone(grouping, &[0.0; 4], &[1.0, 3.0, 5.0, 7.0], None);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
        // One row does not tell two coefficients apart.
        assert!(found[2].is_nan() && found[3].is_nan());
        // Effects that are in the fit already are added to the residuals.
        let found = alone(grouping, &[1.0, 2.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 7.0], None);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(moments(grouping, 4), [1.0, 2.0, 2.0, 7.5]);
    }
}

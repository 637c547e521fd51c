//! A step along a line from slopes alone: along a line a convex function's slope rises, so its root
//! can be bracketed without values.

/// The slope left, as a share of the slope at the start, that ends a search.
const SLOPE_LEFT: f64 = 0.1;
/// The most slopes that a search evaluates.
const EVALUATIONS: usize = 200;

/// The step that a search took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// Its length in units of the direction; 0 if none could be found.
    pub(crate) length: f64,
    /// Whether the slope there is small enough.
    pub(crate) settled: bool,
}

/// Finds where the slope is small. `start` < 0 is the slope at 0, `slope(t)` that at t. A slope
/// that is not finite means that t is too far.
///
/// # Errors
/// The error of the first slope that fails.
pub(crate) fn line_search<E>(
    start: f64, mut slope: impl FnMut(f64) -> Result<f64, E>,
) -> Result<Step, E> {
    let enough = SLOPE_LEFT * start.abs();
    let (mut low, mut low_slope) = (0.0, start);
    let mut high: Option<(f64, f64)> = None;
    let mut t = 1.0;
    let mut reach = 2.0;
    let mut halve = false;
    let mut shrink: f64 = 0.3;
    for evaluation in 0..EVALUATIONS {
        let value = slope(t)?;
        if value.abs() <= enough {
            return Ok(Step { length: t, settled: true });
        }
        let width = high.map(|(high, _)| high - low);
        if value < 0.0 {
            (low, low_slope) = (t, value);
        } else {
            high = Some((t, value));
        }
        let Some((high, high_slope)) = high else {
            // Still falling: go further out, in growing strides.
            t *= reach;
            reach *= 2.0;
            if !t.is_finite() {
                break;
            }
            continue;
        };
        let bracket = high - low;
        if !(bracket > f64::EPSILON * high) {
            break;
        }
        // The secant, kept off the ends; halves where it has not halved the bracket. A bracket of
        // several orders of magnitude is first narrowed to one.
        halve = !halve && width.is_some_and(|width| bracket > 0.5 * width);
        let share =
            if high_slope.is_finite() { -low_slope / (high_slope - low_slope) } else { 0.1 };
        t = if low == 0.0 && evaluation >= 3 {
            shrink *= shrink;
            high * shrink
        } else if low > 0.0 && high > 100.0 * low {
            low.sqrt() * high.sqrt()
        } else {
            low + bracket * if halve { 0.5 } else { share.clamp(0.01, 0.99) }
        };
    }
    Ok(Step { length: low, settled: false })
}

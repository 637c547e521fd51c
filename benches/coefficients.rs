//! The coefficients of one step: our stable forms against the printed ones, in the same run.
//!
//! "printed" stands for the paper's formulas and a plain 3x3 Cholesky factorisation, as in a
//! straightforward implementation.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ridgewalk::coefficients::{Coefficients, Parameters, printed};

/// The plain factorisation for the printed formulas; NaN if their result is not positive definite.
fn plain_cholesky([s11, s12, s13, s22, s23, s33]: [f64; 6]) -> [f64; 6] {
    let l11 = s11.sqrt();
    let (l21, l31) = (s12 / l11, s13 / l11);
    let l22 = (s22 - l21 * l21).sqrt();
    let l32 = (s23 - l31 * l21) / l22;
    [l11, l21, l22, l31, l32, (s33 - l31 * l31 - l32 * l32).sqrt()]
}

fn one_step(c: &mut Criterion) {
    // Two parameter sets in the series branch, one with a tiny step, and one in the closed branch.
    for (name, eta) in [("series", 0.05), ("closed", 2.0), ("tiny", 1e-6)] {
        let mut group = c.benchmark_group(format!("coefficients/{name}"));
        let parameters = Parameters::new(1.32, 2.07, eta).expect("valid parameters");
        group.bench_function("stable", |b| {
            b.iter(|| Coefficients::new(black_box(parameters), black_box(1.0)).expect("in range"));
        });
        group.bench_function("printed", |b| {
            b.iter(|| {
                let parameters = black_box(parameters);
                let sigma = printed::sigma(&parameters, black_box(1.0));
                (printed::mu(&parameters), sigma, plain_cholesky(sigma))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, one_step);
criterion_main!(benches);

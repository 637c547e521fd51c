//! The line rule: its construction, and the overhead of an integral over evaluating the function.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ridgewalk::quadrature::LineRule;

const DIMENSION: usize = 200;

/// A cheap gradient, so that the work of the rule matters.
fn gradient(t: f64, value: &mut [f64]) {
    for (i, v) in value.iter_mut().enumerate() {
        *v = t * i as f64 + 1.0;
    }
}

fn line_rule(c: &mut Criterion) {
    let mut group = c.benchmark_group("quadrature");
    for nodes in [4, 16, 64] {
        group.bench_function(format!("new/{nodes}"), |b| {
            b.iter(|| LineRule::new(black_box(nodes), 0.1))
        });
    }
    let rule = LineRule::new(4, 0.1).expect("valid rule");
    let mut scratch = Vec::new();
    let mut integral = vec![0.0; DIMENSION];
    group.bench_function("integrate/4x200", |b| {
        b.iter(|| rule.integrate(gradient, &mut scratch, black_box(&mut integral)));
    });
    group.bench_function("values alone/4x200", |b| {
        b.iter(|| {
            for &t in rule.nodes() {
                gradient(t, black_box(&mut integral));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, line_rule);
criterion_main!(benches);

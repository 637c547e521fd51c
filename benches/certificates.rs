//! Certificates and plans: the search, and the exact check that each certificate has to pass.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ridgewalk::lyapunov::certificate::{Certificate, Process, Verdict, certify};
use ridgewalk::lyapunov::planner::{IntegralRule, Problem, plan};

fn found(kappa: f64, process: Process) -> Certificate {
    match certify(kappa, process, None, None).expect("valid arguments").status {
        Verdict::Certified(certificate) => certificate,
        other => panic!("kappa {kappa}: {other:?}"),
    }
}

fn certificates(c: &mut Criterion) {
    let mut group = c.benchmark_group("certificates");
    group.sample_size(10);
    let algorithm = Process::ThirdOrder { eta: 0.5, nodes: None };
    for kappa in [2.0, 100.0, 1e4] {
        group.bench_function(format!("diffusion, best gamma and xi, kappa {kappa}"), |b| {
            b.iter(|| found(black_box(kappa), Process::Diffusion));
        });
        group.bench_function(format!("algorithm, best gamma and xi, kappa {kappa}"), |b| {
            b.iter(|| found(black_box(kappa), algorithm));
        });
    }
    for (name, process) in [
        ("diffusion", Process::Diffusion),
        ("algorithm", algorithm),
        ("symmetric", Process::Symmetric { eta: 0.5 }),
    ] {
        let good = found(10.0, process);
        group.bench_function(format!("check alone, {name}"), |b| {
            b.iter(|| {
                Certificate::check(black_box(good.setting()), good.s(), good.tau(), good.speed())
            });
        });
    }
    let problem = Problem::new(0.1, 1.0, 100, 0.2, IntegralRule::Exact).expect("valid problem");
    group.bench_function("plan, kappa 10", |b| b.iter(|| plan(black_box(&problem))));
    group.finish();
}

criterion_group!(benches, certificates);
criterion_main!(benches);

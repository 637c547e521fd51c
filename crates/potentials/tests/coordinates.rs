//! A potential in other coordinates with its design as it is, against the same with a copy of the
//! design.

use std::sync::Arc;

use ridgewalk_potentials::families::{Family, Gaussian, Logistic};
use ridgewalk_potentials::peers::Threads;
use ridgewalk_potentials::{
    Dense, Design, Error, LineIntegral, MappedRidge, Prior, Ridge, Rows, Scratch, Sparse,
    WhitenedRidge, Whitening,
};

use crate::support::{largest, numbers};

const D: usize = 7;
const ROWS: usize = 150;
const CHAINS: usize = 11;

/// Rows of a model with weights, offsets, uncentred priors and a flat one.
fn model_of<F: Family>(
    family: F, [from, to, all]: [usize; 3], d: usize, sparse: bool,
) -> Ridge<'static, F> {
    let values: Vec<f64> = numbers(5, all * d)
        .into_iter()
        .map(|x| if sparse && x.abs() < 0.6 { 0.0 } else { x })
        .collect();
    let rows = to - from;
    let dense = Dense::new(rows, d, values[from * d..to * d].to_vec()).unwrap();
    let design: Design<'static> =
        if sparse { Sparse::from_dense(&dense).into() } else { dense.into() };
    let responses: Vec<f64> = (from..to).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let scales: Vec<f64> =
        (0..d).map(|k| if k == 1 { f64::INFINITY } else { 0.5 + k as f64 }).collect();
    Ridge::new(design, family, &responses, Prior::normal(&numbers(6, d), &scales).unwrap())
        .unwrap()
        .with_weights(numbers(7, all)[from..to].iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(8, all)[from..to].to_vec())
        .unwrap()
}

fn model<F: Family>(family: F, sparse: bool) -> Ridge<'static, F> {
    model_of(family, [0, ROWS, ROWS], D, sparse)
}

/// B Bᵀ + I/10 for a random B.
fn positive_definite(d: usize) -> Vec<f64> {
    let b = numbers(9, d * d);
    let entry = |i: usize, j: usize| (0..d).map(|k| b[i * d + k] * b[j * d + k]).sum::<f64>();
    let shift = |i, j| if i == j { 0.1 } else { 0.0 };
    (0..d * d).map(|at| entry(at / d, at % d) + shift(at / d, at % d)).collect()
}

/// The four kinds, around a point that is not the origin.
fn whitenings() -> [Whitening; 4] {
    let (centre, matrix) = (numbers(10, D), positive_definite(D));
    let scales: Vec<f64> = numbers(11, D).iter().map(|s| s.exp()).collect();
    let few = Whitening::from_covariance(&centre[..3], &positive_definite(3)).unwrap();
    [
        Whitening::from_hessian(&centre, &matrix).unwrap(),
        Whitening::from_covariance(&centre, &matrix).unwrap(),
        Whitening::diagonal(&centre, &scales).unwrap(),
        few.of_last(D).unwrap(),
    ]
}

/// The integrals, gradients and values of some chains, values less that of the first one.
fn answers(potential: &dyn LineIntegral, chains: usize) -> [Vec<f64>; 4] {
    let d = potential.dimension();
    let (z, p) = (numbers(12, chains * d), numbers(13, chains * d));
    let scratch = &mut Scratch::default();
    let [mut integrals, mut gradients, mut beside] =
        [vec![0.0; z.len()], vec![0.0; z.len()], vec![0.0; z.len()]];
    let mut values = vec![0.0; chains];
    potential.integrate(0.3, &z, &p, &mut integrals, scratch).unwrap();
    potential.gradients(&z, &mut gradients, scratch).unwrap();
    potential.values_and_gradients(&z, &mut values, &mut beside, scratch).unwrap();
    let first = values[0];
    values.iter_mut().for_each(|value| *value -= first);
    [integrals, gradients, values, beside]
}

/// The largest difference between two lists, as a share of the largest number.
fn off(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest(a)
}

fn all_off(a: &[Vec<f64>; 4], b: &[Vec<f64>; 4]) -> [f64; 4] {
    std::array::from_fn(|k| off(&a[k], &b[k]))
}

fn same_potential<F: Family + Clone>(family: F, sparse: bool) {
    let original = model(family, sparse);
    for w in whitenings() {
        let mapped = MappedRidge::new(&original, &w).unwrap();
        let copied = original.whitened(&w).unwrap();
        let (found, wanted) = (answers(&mapped, CHAINS), answers(&copied, CHAINS));
        assert!(all_off(&found, &wanted).iter().all(|off| *off < 1e-12), "{w:?}");
        // Coordinates that are a little off are seen.
        let mut centre = w.centre().to_vec();
        centre[2] += 1e-6;
        let wrong = MappedRidge::new(&original, &w.centred_at(centre).unwrap()).unwrap();
        let wrong = all_off(&answers(&wrong, CHAINS), &wanted);
        assert!(wrong.iter().all(|off| *off > 1e-9), "{wrong:?}");
    }
}

#[test]
fn a_mapped_potential_is_the_copied_one() {
    for sparse in [false, true] {
        same_potential(Logistic, sparse);
        same_potential(Gaussian::new(0.7).unwrap(), sparse);
    }
}

/// In tiles of any width, to the last bit.
#[test]
fn chains_do_not_depend_on_each_other() {
    for w in whitenings() {
        let mapped = MappedRidge::new(&model(Logistic, true), &w).unwrap();
        let all = answers(&mapped, CHAINS);
        for chains in [1, 3, 8] {
            let some = answers(&mapped, chains);
            for (all, some) in all.iter().zip(&some) {
                assert_eq!(&all[..some.len()], some);
            }
        }
    }
}

/// A stiff step, from the same rows.
#[test]
fn stiff_rows_are_those_of_the_copy() {
    let original = model(Logistic, false);
    for w in whitenings() {
        let mapped = MappedRidge::new(&original, &w).unwrap();
        let copied = original.whitened(&w).unwrap();
        assert_eq!(mapped.stiff(), copied.stiff());
        assert_eq!(mapped.stiff(), ROWS / 32);
        let step = |potential: &dyn LineIntegral| {
            let mut state = numbers(14, 2 * D);
            let (z, p) = state.split_at_mut(D);
            potential.add_stiff(0.8, 1.0, z, p);
            state
        };
        let (found, wanted) = (step(&mapped), step(&copied));
        assert!(off(&found, &wanted) < 1e-12);
        assert!(off(&numbers(14, 2 * D), &wanted) > 1e-3, "a step that does nothing");
    }
    // Rows that stay sparse have none, as in a copy.
    let sparse = model(Logistic, true);
    let [.., diagonal, _] = whitenings();
    assert_eq!(MappedRidge::new(&sparse, &diagonal).unwrap().stiff(), 0);
}

#[test]
fn bounds_are_those_of_the_copy() {
    let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 1e-9;
    for sparse in [false, true] {
        for w in whitenings() {
            let original = model(Gaussian::new(0.7).unwrap(), sparse);
            let copied = original.whitened(&w).unwrap().curvature().unwrap();
            let mapped = MappedRidge::new(&original, &w).unwrap().curvature().unwrap();
            assert!(near(mapped.convexity().value, copied.convexity().value));
            let [found, wanted] = [&mapped, &copied].map(|c| c.smoothness().unwrap().value);
            assert!(near(found, wanted), "{found} for {wanted}");
        }
    }
}

/// Beyond 1,000 columns bounds come from products: they hold, and are not far from those of the
/// copy.
#[test]
fn bounds_of_many_columns_hold() {
    const MANY: usize = 1001;
    let original = model_of(Logistic, [0, 40, 40], MANY, true);
    let prior = Prior::centred(MANY, 2.0).unwrap();
    let original = original.with_prior(prior).unwrap();
    let mut matrix = vec![0.0; MANY * MANY];
    for k in 0..MANY {
        matrix[k * (MANY + 1)] = 1.0 + (k % 5) as f64;
        if k > 0 {
            matrix[k * MANY + k - 1] = 0.3;
            matrix[(k - 1) * MANY + k] = 0.3;
        }
    }
    let w = Whitening::from_covariance(&vec![0.0; MANY], &matrix).unwrap();
    let copied = original.whitened(&w).unwrap().curvature().unwrap();
    let mapped = MappedRidge::new(&original, &w).unwrap().curvature().unwrap();
    let [found, wanted] = [&mapped, &copied].map(|c| c.smoothness().unwrap().value);
    assert!((0.95..1.05).contains(&(found / wanted)), "{found} for {wanted}");
    let [found, wanted] = [&mapped, &copied].map(|c| c.convexity().value);
    assert!(found > 0.0 && found <= wanted * (1.0 + 1e-9), "{found} for {wanted}");
}

/// Rows in several processes, some of them more than others.
#[test]
fn rows_in_several_processes_give_the_same() {
    let w = &whitenings()[0];
    let whole = answers(&MappedRidge::new(&model(Logistic, true), w).unwrap(), CHAINS);
    std::thread::scope(|scope| {
        let cuts = [0, 20, 90, ROWS];
        let parts = Threads::group(3).into_iter().enumerate().map(|(part, peers)| {
            scope.spawn(move || {
                let mine = model_of(Logistic, [cuts[part], cuts[part + 1], ROWS], D, true);
                let mine = mine.with_rows(&Rows::shared(Arc::new(peers)));
                let mapped = MappedRidge::new(&mine, w).unwrap();
                assert!(mapped.collective() && mapped.stiff() == 0);
                answers(&mapped, CHAINS)
            })
        });
        let parts: Vec<_> =
            parts.collect::<Vec<_>>().into_iter().map(|p| p.join().unwrap()).collect();
        for part in &parts {
            assert!(all_off(part, &whole).iter().all(|off| *off < 1e-12));
            assert_eq!(part, &parts[0]);
        }
    });
}

/// Models of ordinary size are copied as ever; a large sparse one is not, and neither in one
/// process only.
#[test]
fn the_cheaper_way_is_chosen() {
    for sparse in [false, true] {
        for w in whitenings() {
            let white = model(Logistic, sparse).in_coordinates(&w).unwrap();
            assert!(matches!(white, WhitenedRidge::Copied(_)));
        }
    }
    // 60,000 rows of 2 entries in 40 columns.
    let starts: Vec<usize> = (0..=60_000).map(|i| 2 * i).collect();
    let indices = (0..60_000).flat_map(|i| [i % 17, 17 + i % 23]).collect();
    let design = Sparse::new(40, starts, indices, vec![1.0; 120_000]).unwrap();
    let responses: Vec<f64> = (0..60_000).map(|i| f64::from(i % 2)).collect();
    let large = Ridge::new(design, Logistic, &responses, Prior::centred(40, 1.0).unwrap()).unwrap();
    let full = Whitening::from_covariance(&[0.0; 40], &positive_definite(40)).unwrap();
    let diagonal = Whitening::diagonal(&[0.0; 40], &[0.5; 40]).unwrap();
    let white = large.in_coordinates(&full).unwrap();
    assert!(matches!(white, WhitenedRidge::Mapped(_)));
    assert!(matches!(large.in_coordinates(&diagonal).unwrap(), WhitenedRidge::Copied(_)));
    let copied = large.whitened(&full).unwrap();
    assert!(all_off(&answers(&white, 3), &answers(&copied, 3)).iter().all(|off| *off < 1e-11));
    std::thread::scope(|scope| {
        for (part, peers) in Threads::group(2).into_iter().enumerate() {
            let (large, full) = (&large, &full);
            scope.spawn(move || {
                let rows = Rows::shared(Arc::new(peers));
                let mine = match part {
                    0 => large.clone().with_rows(&rows),
                    _ => model_of(Logistic, [0, 3, 3], 40, true).with_rows(&rows),
                };
                let white = mine.in_coordinates(full).unwrap();
                assert!(matches!(white, WhitenedRidge::Mapped(_)), "{part}");
            });
        }
    });
}

#[test]
fn coordinates_that_do_not_fit_are_refused() {
    let original = model(Logistic, false);
    let other = Whitening::diagonal(&[0.0; 2], &[1.0; 2]).unwrap();
    assert!(matches!(MappedRidge::new(&original, &other), Err(Error::Length { .. })));
    let far = Whitening::diagonal(&[f64::MAX; D], &[1.0; D]).unwrap();
    assert!(matches!(MappedRidge::new(&original, &far), Err(Error::Row { .. })));
}

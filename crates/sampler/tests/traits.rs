//! Kernels, sinks and targets behind pointers, and kernels that need nothing but their step.

use std::sync::Arc;

use crate::common::{Quadratic, all_kernels, parameters, small_run};
use ridgewalk_potentials::FromFn;
use ridgewalk_sampler::automatic::{BlackBox, Target, WarmUp};
use ridgewalk_sampler::{
    CoupledChains, Draws, Error, Kernel, LinearKernel, Sampler, Sink, Symmetric,
};

#[test]
fn a_kernel_behind_a_pointer_makes_the_same_draws() {
    for kernel in all_kernels(1.0, 2.0, 0.4, 3.0) {
        let need = small_run(&*kernel, 3, 10);
        let shared: Arc<dyn LinearKernel> = Arc::from(kernel);
        let boxed: Box<dyn Kernel> = Box::new(Arc::clone(&shared));
        for pointer in [&shared as &dyn Kernel, &boxed, &&*boxed] {
            assert_eq!(small_run(pointer, 3, 10), need);
            assert_eq!((pointer.name(), pointer.smoothness()), (shared.name(), 3.0));
            assert_eq!(pointer.uniforms(), shared.uniforms());
        }
        let linear: &dyn LinearKernel = &shared;
        assert_eq!(linear.scheme(), (*shared).scheme());
        assert_eq!(linear.coupled().is_some(), linear.name() != "adjusted");
    }
}

#[test]
fn every_kernel_without_a_decision_can_be_coupled() {
    let target = Quadratic { curvature: vec![1.0] };
    for kernel in all_kernels(1.0, 2.0, 0.4, 1.0) {
        let chains = CoupledChains::new(&target, kernel.scheme(), 1.0, 1, &[0.0; 2]);
        match kernel.coupled() {
            Some(coupled) => {
                assert!(chains.is_ok());
                let short = coupled.halved().unwrap().kernel;
                assert_eq!(short.scheme().eta(), 0.5 * kernel.scheme().eta());
            }
            None => {
                assert_eq!(kernel.name(), "adjusted");
                assert!(matches!(chains, Err(Error::NoCoupling { name: "adjusted" })));
            }
        }
    }
}

#[test]
fn a_sink_behind_a_pointer_takes_the_same_draws() {
    let target = Quadratic { curvature: vec![1.0, 2.0] };
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.5), 2.0).unwrap();
    let (mut direct, mut by_reference) = (Draws::default(), Draws::default());
    let mut boxed: Box<Draws> = Box::default();
    let run = |sink: &mut dyn Sink| Sampler::new(&target, &kernel).draws(20).run(sink).unwrap();
    run(&mut direct);
    run(&mut &mut by_reference);
    run(&mut boxed);
    let erased: &mut dyn Sink = &mut direct.clone();
    run(&mut Box::new(erased));
    assert_eq!((&by_reference, &*boxed), (&direct, &direct));
}

#[test]
fn a_target_behind_a_pointer_has_the_same_warm_up() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g[0] = x[0].exp() - 1.0;
        Ok(())
    };
    let target = BlackBox::new(FromFn::new(1, gradient), 3, &[0.5]).unwrap();
    let need = WarmUp::new(&target).seed(4).run().unwrap().saved();
    let shared = Arc::new(target);
    assert!(WarmUp::new(&shared).seed(4).run().unwrap().saved() == need);
    assert!(WarmUp::new(&&*shared).seed(4).run().unwrap().saved() == need);
}

#[test]
fn a_given_mode_and_hessian_are_used() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        (g[0], g[1]) = (4.0 * (x[0] - 1.0), x[1] + x[1].powi(3));
        Ok(())
    };
    let plain = BlackBox::new(FromFn::new(2, gradient), 3, &[0.0, 0.5]).unwrap();
    let informed = plain.clone().with_mode(&[1.0, 0.0]).unwrap().with_hessian(|x, h| {
        h.copy_from_slice(&[4.0, 0.0, 0.0, 1.0 + 3.0 * x[1] * x[1]]);
        Ok(())
    });
    let (mode, spent) = informed.mode().unwrap();
    assert_eq!((mode.point, mode.iterations, spent), (vec![1.0, 0.0], 0, 1));
    let (by_differences, cost) = plain.hessian(&[0.5, 0.7]).unwrap();
    let (exact, cheaper) = informed.hessian(&[0.5, 0.7]).unwrap();
    assert!(cheaper < cost && exact != by_differences);
    assert!(exact.iter().zip(&by_differences).all(|(a, b)| (a - b).abs() < 1e-8));
    assert_eq!((plain.affordable_hessians(16), informed.affordable_hessians(16)), (0, 16));
    let mut warm = WarmUp::new(&informed).seed(1).run().unwrap();
    let mut draws = Draws::default();
    warm.run(ridgewalk_sampler::automatic::Length::Draws(1000)).keep(&mut draws).unwrap();
    assert!((draws.mean(0) - 1.0).abs() < 0.05, "{}", draws.mean(0));
    assert!(plain.clone().with_mode(&[1.0]).is_err());
    let failing = plain.with_hessian(|_, _| Err("no Hessian here".to_owned()));
    let message = WarmUp::new(&failing).run().map(drop).unwrap_err().to_string();
    assert!(message.contains("no Hessian here"), "{message}");
}

//! What reaches a sink: which draws, in which coordinates, and that none is lost when a sink fails
//! for a while.

use crate::common::{Quadratic, kernels, parameters, step_of_its_own};
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::Whitening;
use ridgewalk_sampler::{
    Batch, Draws, Ensemble, Error, InOriginal, Kernel, Noise, Sampler, Sink, SinkError, Snapshot,
    Step, ThirdOrder, Workspace,
};

fn target() -> Quadratic {
    Quadratic { curvature: vec![1.0, 0.4] }
}

fn kernel() -> ThirdOrder {
    ThirdOrder::new(parameters(1.0, 2.0, 0.4), 1.0).unwrap()
}

#[test]
fn draws_are_the_states_after_warm_up_and_every_thin_steps() {
    let (target, kernel) = (target(), kernel());
    for (warm_up, thin) in [(0, 1), (3, 1), (4, 3), (1, 5)] {
        let mut memory = Draws::default();
        let mut sampler =
            Sampler::new(&target, &kernel).chains(2).seed(9).warm_up(warm_up).thin(thin).draws(6);
        sampler.run(&mut memory).unwrap();
        let mut chains = Ensemble::new(&target, 9, &[0.0; 4], 1.0).unwrap();
        chains.advance(&kernel, warm_up);
        for draw in 0..6 {
            chains.advance(&kernel, thin);
            for chain in 0..2 {
                assert_eq!(
                    memory.point(chain, draw).unwrap(),
                    chains.state(chain).unwrap().theta,
                    "{warm_up}, {thin}, {draw}"
                );
            }
        }
    }
}

#[test]
fn draws_of_a_whitened_potential_come_back_in_original_coordinates() {
    let whitening = Whitening::from_covariance(&[3.0, -1.0], &[4.0, 1.0, 1.0, 2.0]).unwrap();
    let (target, kernel) = (target(), kernel());
    let run = |sink: &mut dyn Sink| {
        Sampler::new(&target, &kernel).chains(3).seed(2).draws(5).run(sink).map(drop)
    };
    let (mut white, mut original) = (Draws::default(), Draws::default());
    run(&mut white).unwrap();
    run(&mut InOriginal::new(&whitening, &mut original)).unwrap();
    for (chain, draw) in (0..3).flat_map(|chain| (0..5).map(move |draw| (chain, draw))) {
        let mut wanted = [0.0; 2];
        whitening.to_original(white.point(chain, draw).unwrap(), &mut wanted).unwrap();
        assert_eq!(original.point(chain, draw).unwrap(), wanted);
    }
    let other = Whitening::diagonal(&[0.0; 3], &[1.0; 3]).unwrap();
    let message = run(&mut InOriginal::new(&other, &mut Draws::default())).unwrap_err().to_string();
    assert!(message.contains("a whitening of 3 dimensions: need 2"), "{message}");
}

/// Refuses the draws whose turn it is told, once each, and counts what it is asked.
#[derive(Default)]
struct Moody {
    memory: Draws,
    refusals: Vec<usize>,
    asked: usize,
    unflushed: usize,
}

impl Sink for Moody {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.memory.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.asked += 1;
        if self.refusals.contains(&self.asked) {
            return Err("not now".into());
        }
        assert_eq!(self.memory.draws(chain) as u64, draw, "a gap in chain {chain}");
        self.unflushed += 1;
        self.memory.keep(chain, draw, point)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.unflushed = 0;
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_for_a_while_gets_every_draw_in_the_end() {
    let (target, kernel) = (target(), kernel());
    let sampler = || Sampler::new(&target, &kernel).chains(3).seed(4).warm_up(2).draws(200);
    let mut straight = Draws::default();
    sampler().run(&mut straight).unwrap();
    let mut moody = Moody { refusals: vec![1, 2, 50, 51, 301, 500], ..Moody::default() };
    let mut ensemble = sampler().ensemble().unwrap();
    let mut failures = 0;
    let outcome = loop {
        match sampler().go_on(&mut ensemble, &mut moody) {
            Ok(outcome) => break outcome,
            Err(Error::Sink { .. }) => failures += 1,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!((failures, moody.unflushed), (6, 0));
    assert!(outcome.complete());
    assert_eq!(moody.memory, straight);
}

#[test]
fn kernels_hand_on_the_variables_they_do_not_have() {
    let target = target();
    for kernel in kernels(1.0, 2.0, 0.3, 1.0) {
        let mut from = Batch::new(2, 1).unwrap();
        let fields = from.fields_mut();
        fields.p.copy_from_slice(&[0.5, 0.25]);
        fields.r.copy_from_slice(&[7.0, -7.0]);
        let mut to = Batch::new(2, 1).unwrap();
        let (normals, uniforms) = (vec![0.1; 2 * kernel.normals()], vec![0.5; kernel.uniforms()]);
        let noise = Noise { normals: &normals, uniforms: &uniforms };
        let workspace = &mut Workspace::default();
        let step = Step { potential: &target, from: &from, noise, to: &mut to, workspace };
        kernel.step(step).unwrap();
        // Trajectories begin with fresh p: it is not part of the state, but it moves.
        let dimension = match kernel.scheme().kernel() {
            KernelKind::Hmc => 2,
            _ => kernel.scheme().linear_form(1.0).unwrap().dimension(),
        };
        assert_eq!(to.r() == from.r(), dimension < 3, "{}", kernel.name());
        assert_eq!(to.p() == from.p(), dimension < 2, "{}", kernel.name());
    }
}

#[test]
fn snapshots_and_ensembles_that_do_not_fit_are_refused() {
    let (target, kernel) = (target(), kernel());
    let snapshot = Ensemble::new(&target, 1, &[0.0; 4], 1.0).unwrap().snapshot();
    let mut uneven = snapshot.clone();
    uneven.chains[1].steps = 3;
    let message = Ensemble::restore(&target, uneven).map(drop).unwrap_err().to_string();
    assert_eq!(message, "a chain of the snapshot has made 3 steps: need 0, as the others");
    let other = Quadratic { curvature: vec![1.0; 3] };
    let mut ensemble = Ensemble::new(&other, 1, &[0.0; 6], 1.0).unwrap();
    let outcome =
        Sampler::new(&target, &kernel).chains(2).go_on(&mut ensemble, &mut Draws::default());
    assert!(matches!(outcome, Err(Error::Length { got: 3, need: 2, .. })));
    let infinite = Snapshot { chains: vec![], ..snapshot };
    assert!(Ensemble::restore(&target, infinite).is_err());
}

/// A step that makes r alone infinite.
#[derive(Debug)]
struct Runaway(ThirdOrder);

step_of_its_own!(
    Runaway,
    0,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let Step { potential, from, noise, to, workspace } = step;
        let spent = self.0.step(Step { potential, from, noise, to, workspace })?;
        to.fields_mut().r[1] = f64::INFINITY;
        Ok(spent)
    }
);

#[test]
fn an_infinite_third_variable_ends_a_chain_too() {
    let target = target();
    let mut chains = Ensemble::new(&target, 1, &[0.0; 2], 1.0).unwrap();
    chains.advance(&Runaway(kernel()), 5);
    assert_eq!(chains.running(), 0);
    assert_eq!(chains.end(0).unwrap().step, 1);
}

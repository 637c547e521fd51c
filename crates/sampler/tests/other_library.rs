//! Steps of QUICSORT, ShOULD and ALIGN against the library diffrax, on the same path.
//!
//! `golden/diffrax_steps.json` is made by `scripts/oracles/diffrax_steps.py`, which is not run here.

use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{Chebyshev, FromFn};
use ridgewalk_sampler::{Batch, Noise, Step, Workspace, from_scheme};
use serde_json::Value;

/// L of the potential here; the file has units of L = 1.
const SMOOTHNESS: f64 = 4.0;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The largest difference from the states in the file, with W, H and K each times a factor.
fn largest_difference(case: &Value, factors: [f64; 3]) -> f64 {
    let gradient = |x: &[f64], g: &mut [f64]| {
        for (g, x) in g.iter_mut().zip(x) {
            *g = SMOOTHNESS * (0.4 * x + 0.6 * (x - 0.3).tanh());
        }
        Ok(())
    };
    let potential = Chebyshev::new(FromFn::new(4, gradient), 1).unwrap();
    let [xi, eta] = ["xi", "eta"].map(|name| case[name].as_f64().unwrap());
    let kind = KernelKind::from_name(case["kernel"].as_str().unwrap()).unwrap();
    let kernel = from_scheme(&Scheme::new(kind, 1.0, xi, eta).unwrap(), SMOOTHNESS).unwrap();
    let mut now = Batch::new(4, 1).unwrap();
    let fields = now.fields_mut();
    fields.theta.copy_from_slice(&numbers(&case["x"]));
    fields.p.copy_from_slice(&numbers(&case["v"]));
    let (mut next, mut workspace) = (now.clone(), Workspace::default());
    let mut worst = 0.0_f64;
    let steps = case["path"].as_array().unwrap().iter().zip(case["states"].as_array().unwrap());
    for (path, state) in steps {
        // H is −√(h/12) times the normal along P1. Noise here is smaller by √L.
        let scales = [eta, eta / 12.0, eta / 720.0].map(f64::sqrt);
        let signs = [1.0, -1.0, 1.0];
        let normals: Vec<f64> = (0..kernel.normals())
            .flat_map(|j| {
                let scale = SMOOTHNESS.sqrt() * factors[j] * signs[j] / scales[j];
                numbers(&path[j]).into_iter().map(move |x| scale * x)
            })
            .collect();
        let noise = Noise { normals: &normals, uniforms: &[] };
        let workspace = &mut workspace;
        let step = Step { potential: &potential, from: &now, noise, to: &mut next, workspace };
        kernel.step(step).unwrap();
        std::mem::swap(&mut now, &mut next);
        for (ours, theirs) in [(now.theta(), &state["x"]), (now.p(), &state["v"])] {
            for (a, b) in ours.iter().zip(numbers(theirs)) {
                worst = worst.max((a - b).abs());
            }
        }
    }
    worst
}

#[test]
fn steps_along_polynomial_paths_are_those_of_diffrax() {
    let document: Value = serde_json::from_str(include_str!("golden/diffrax_steps.json")).unwrap();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let name = case["kernel"].as_str().unwrap();
        let difference = largest_difference(case, [1.0; 3]);
        assert!(difference < 1e-13, "{name}: {difference:e}");
        // Planted: an area with the wrong sign, or left out.
        assert!(largest_difference(case, [1.0, -1.0, 1.0]) > 1e-3, "{name}");
        if name != "align" {
            assert!(largest_difference(case, [1.0, 1.0, 0.0]) > 1e-4, "{name}");
        }
    }
}

//! A model whose family is chosen at run time goes through warm-up and sampling with the same draws,
//! to the last bit, as one whose family is known at compile time.

use std::sync::Arc;

use ridgewalk_potentials::families::{Family, Logistic};
use ridgewalk_potentials::{Dense, Prior, Ridge};
use ridgewalk_sampler::automatic::{Length, WarmUp};
use ridgewalk_sampler::{Draws, Stream};

fn draws<F: Family + Clone>(family: F) -> Vec<Vec<f64>> {
    let (rows, columns) = (60, 2);
    let mut values = vec![0.0; rows * columns];
    Stream::new(1, 0).normals(&mut values);
    let responses: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
    let design = Dense::new(rows, columns, values).unwrap();
    let prior = Prior::centred(columns, 2.0).unwrap();
    let model = Ridge::new(design, family, &responses, prior).unwrap();
    let mut warm = WarmUp::new(&model).seed(3).run().unwrap();
    let mut draws = Draws::default();
    warm.run(Length::Draws(50)).keep(&mut draws).unwrap();
    draws.tables().iter().map(|table| table.to_vec()).collect()
}

#[test]
fn a_family_behind_a_pointer_gives_the_same_draws() {
    let expected = draws(Logistic);
    assert!(expected.iter().all(|chain| chain.len() == 100));
    let shared: Arc<dyn Family> = Arc::new(Logistic);
    assert_eq!(draws(Arc::clone(&shared)), expected);
    assert_eq!(draws(&*shared), expected);
}

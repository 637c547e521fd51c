//! Prints the posterior means that `scripts/checks/wasm` compares with those of the module.
//! Usage: `native SEED DRAWS`

use ridgewalk_wasm::ridgewalk_posterior_mean;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse().expect("a whole number"));
    let (Some(seed), Some(draws), None) = (numbers.next(), numbers.next(), numbers.next()) else {
        panic!("usage: native SEED DRAWS");
    };
    for coefficient in 0..2 {
        println!("{:?}", ridgewalk_posterior_mean(seed, draws, coefficient));
    }
}

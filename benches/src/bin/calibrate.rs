//! explore
use ridgewalk_benches::Failure;
use ridgewalk_benches::calibration::models::Model;
use ridgewalk_benches::calibration::mistakes::*;
use ridgewalk_benches::calibration::sampler::Automatic;
use ridgewalk_benches::calibration::{Size, calibrate, Outcome, QUANTITIES};
fn main() -> Result<(), Failure> {
    let a: Vec<String> = std::env::args().collect();
    let g = |k: usize| a[k].parse::<f64>().unwrap();
    let size = Size { rows: g(1) as usize, columns: g(2) as usize, replications: g(3) as u64, draws: 127 };
    let mut s = Automatic::new(g(4));
    s.budget = g(5) as u64;
    let prior = g(6);
    if g(7) != 1.0 { s.mistake = Some(Mistake { coefficient: match a[8].as_str() { "pp" => Coefficient::PToP, "np" => Coefficient::NoiseOfP, _ => Coefficient::RToR }, factor: g(7) }); }
    let mut all = Vec::new();
    for m in Model::ALL {
        let t = std::time::Instant::now();
        let o = calibrate(&s, m, size, prior, 1)?;
        let sec = t.elapsed().as_secs_f64();
        let v = o.verdicts()?;
        println!("{:16} {:.1} ms/rep, within {}, grads/rep {}, {:?}", m.name(), 1e3*sec/size.replications as f64, o.within, o.gradients/size.replications, o.kernels.iter().map(|(k,(n,e))| format!("{k} {n} {:.2}", e/ *n as f64)).collect::<Vec<_>>());
        println!("   {}", v.iter().map(|v| format!("{:.1e}/{:.1e}", v.chi_square[1], v.ecdf[1])).collect::<Vec<_>>().join("  "));
        all.push(o);
    }
    let v = Outcome::together(&all).verdicts()?;
    println!("all {}", QUANTITIES.iter().zip(&v).map(|(q, v)| format!("{q}: {:.1e}/{:.1e}", v.chi_square[1], v.ecdf[1])).collect::<Vec<_>>().join("  "));
    Ok(())
}

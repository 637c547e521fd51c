//! The paper's claims, checked: its matrices, polynomials and theorems as functions, and a verdict
//! on every claim about them.
//!
//! Mou, Ma, Wainwright, Bartlett and Jordan, *High-Order Langevin Diffusion Yields an Accelerated
//! MCMC Algorithm* (JMLR 2021), prove contraction of the third-order dynamics by hand, with
//! polynomials in 1/κ of degree up to 25. Here each step of that proof is an identity of exact
//! polynomials, or a sign decided by Sturm's theorem for all κ >= 1 at once; its margin is the
//! largest strengthening that is still true. Statements about steps are proved with explicit
//! constants at values of κ from 1 to 10⁶ and compared with exact laws. Claims about step sizes are
//! checked by exponents and units, formulas for one step by value, and steps of the other proofs in
//! small examples.
//!
//! ```
//! use ridgewalk_lyapunov::paper::{Verdict, verify};
//!
//! let claims = verify()?;
//! assert!(claims.iter().all(|claim| claim.verdict != Verdict::Fails));
//! let lemma = claims.iter().find(|claim| claim.place == "Lemma 2").unwrap();
//! // Eigenvalues of S M + Mᵀ S are claimed to be below -0.2; the largest is -0.4024, at κ = 1.873.
//! assert!((lemma.margin.unwrap() - 0.2024).abs() < 1e-4);
//! assert!((lemma.at_kappa.unwrap() - 1.873).abs() < 1e-3);
//! # Ok::<(), ridgewalk_lyapunov::Error>(())
//! ```

mod algorithm;
mod claims;
mod contraction;
mod matrices;
mod numeric;
mod polynomial;
mod printed;
mod proofs;
mod scaling;
mod spectrum;
mod statements;
mod sturm;
mod theorems;

pub use claims::{Claim, Verdict, verify, verify_at, verify_printed};
pub use matrices::{
    Matrix3, cubic, derivative, derivative_eigenvalues, drift, g1, g2, g3, g4, g5, g6, rate, s,
};
pub use numeric::{best_rate, eigenvalues_of_s, roots_of_cubic, symmetric_eigenvalues};
pub use polynomial::{Polynomial, PolynomialMatrix, Unknown, rational};
pub use printed::Printed;
pub use proofs::proof_claims;
pub use statements::{
    BlackBox, HighMoments, Mixing, OneStep, Statements, black_box_bound, high_moment_bound,
    high_moment_limit, high_moment_ratio, mixing_bound, one_step_bound, one_step_bounds,
    one_step_gradient_ratio, one_step_ratio, path_moment_bound, path_moment_ratio,
    statement_claims,
};
pub use sturm::{Need, Univariate};
pub use theorems::{
    HigherSmoothness, Problem, Reading, Scaling, theorem1_mixing_time, theorem1_step,
    theorem1_step_size, theorem1_time, theorem2_mixing_time, theorem2_step, theorem2_step_size,
    theorem2_time,
};

//! All integration tests in one program.

mod accelerated;
mod check;
mod coordinates;
mod curvature;
mod factored;
mod families;
mod joint;
mod likelihoods;
mod mode;
mod own_family;
mod pointers;
mod properness;
mod ridge;
mod spread;
mod stored;
mod support;
mod values;
mod whitening;
mod wide;

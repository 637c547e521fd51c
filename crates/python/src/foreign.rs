//! What others own: a stream of Arrow arrays behind a capsule, and a compiled function behind an
//! address. The only unsafe code of the package.
#![allow(unsafe_code)]

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::input;

/// The name that the Arrow PyCapsule interface gives the capsules of streams.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// The stream in a capsule. It is moved out: the capsule is left with a released stream.
///
/// # Errors
/// Another capsule, or a stream that was read before.
pub(crate) fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the interface promises that a capsule of this name, which was just checked, points to
    // an ArrowArrayStream that lives as long as the capsule, and that the one who reads it may move
    // it out. `from_raw` does so: it leaves an empty stream behind, which the destructor of the
    // capsule skips. We hold the capsule, so the pointer is valid, and no one else writes to it.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(input)
}

/// A compiled function: it writes the gradient of a log density and returns its value.
type Function = unsafe extern "C" fn(*const f64, *mut f64, isize) -> f64;

/// A compiled function at an address, such as that of a numba `cfunc`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiled(Function);

impl Compiled {
    /// The function at an address; `None` for the address 0.
    ///
    /// The caller has checked that what is there takes a point, room for its gradient and their
    /// length, and returns a number: there is no way to see it from the address.
    pub(crate) fn at(address: usize) -> Option<Self> {
        if address == 0 {
            return None;
        }
        // SAFETY: a function pointer that is not null. That it has this type is the contract of
        // `rw.sample`, which checks the signature of a numba function before it passes the address.
        Some(Self(unsafe { std::mem::transmute::<usize, Function>(address) }))
    }

    /// The value at a point, with its gradient in `gradient`.
    pub(crate) fn call(self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let length = isize::try_from(point.len().min(gradient.len())).unwrap_or(0);
        // SAFETY: both slices have at least `length` numbers, and the function reads and writes no
        // more, by its contract. It keeps neither pointer.
        unsafe { (self.0)(point.as_ptr(), gradient.as_mut_ptr(), length) }
    }
}

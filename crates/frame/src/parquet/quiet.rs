//! Panics that are caught, without the lines that the panic hook writes about them.
//!
//! A hook belongs to the whole process and other threads may panic meanwhile. So it is wrapped once
//! and for all by one that is silent on threads that say so, and hands everything else on to the
//! one before.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, or gives the message of its panic.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                before(info);
            }
        }));
    });
    let outer = SILENT.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    SILENT.set(outer);
    done.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

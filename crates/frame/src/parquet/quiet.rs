//! Catches panics without the output of the panic hook.
//!
//! The hook is global and other threads may panic at the same time. So it is wrapped once by a hook
//! that is silent on threads that ask for it and otherwise calls the previous hook.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, or returns the message of its panic.
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

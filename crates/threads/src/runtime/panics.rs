//! What a task that panicked said, and where. Panics of tasks print nothing: the report has them.

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::Once;

thread_local! {
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

static INSTALL: Once = Once::new();

/// Installs the hook, once per process.
pub(crate) fn install() {
    INSTALL.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if super::switch::is_task() {
                let said = info.payload_as_str().unwrap_or("panicked");
                let place = info.location().map(|at| format!(" (at {}:{})", at.file(), at.line()));
                let said = format!("{said}{}", place.unwrap_or_default());
                SAID.with(|slot| slot.replace(Some(said)));
            } else {
                before(info);
            }
        }));
    });
}

/// What the last panic said.
pub(crate) fn said() -> String {
    SAID.with(|slot| slot.take()).unwrap_or_else(|| "panicked".to_owned())
}

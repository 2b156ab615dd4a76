//! Stack overflow in a task is a result, not the end of the process.
//!
//! A signal handler looks whether the fault happened on the stack of the task that runs, and if so makes the task return.
//! Other faults go to whoever handled them before. Only on Linux with x86-64; elsewhere an overflow ends the process, as
//! it does with threads.

#![allow(unsafe_code)]

use super::switch::Ending;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<Option<CoroutineTrapHandler<Ending>>> = const { Cell::new(None) };
}

/// Says which task runs.
pub(crate) fn watch(handler: Option<CoroutineTrapHandler<Ending>>) {
    RUNNING.set(handler);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod signal {
    use super::{Ending, RUNNING};
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, Ordering};

    static INSTALL: Once = Once::new();
    static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

    /// Installs the handler, once per process. The thread must have an alternative signal stack, as threads of the
    /// standard library have.
    pub(crate) fn install() {
        INSTALL.call_once(|| {
            // SAFETY: plain calls of sigaction with valid pointers; the old action is kept for ever.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handle as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut before);
                BEFORE.store(Box::into_raw(Box::new(before)), Ordering::SeqCst);
                libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
            }
        });
    }

    /// SAFETY: called by the kernel with valid pointers. `RUNNING` has no destructor, so that reading it is safe here.
    unsafe extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the context of a handler with SA_SIGINFO is a ucontext_t.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let stack = registers[libc::REG_RSP as usize] as usize;
        if let Some(handler) = RUNNING.get().filter(|handler| handler.stack_ptr_in_bounds(stack)) {
            // SAFETY: the stack pointer is in the running task's stack. The task is given up: what is on its stack
            // leaks, and the whole exploration ends.
            let regs = unsafe { handler.setup_trap_handler(|| Ending::Overflowed) };
            registers[libc::REG_RIP as usize] = regs.rip as i64;
            registers[libc::REG_RSP as usize] = regs.rsp as i64;
            registers[libc::REG_RBP as usize] = regs.rbp as i64;
            registers[libc::REG_RDI as usize] = regs.rdi as i64;
            registers[libc::REG_RSI as usize] = regs.rsi as i64;
            return;
        }
        let before = BEFORE.load(Ordering::SeqCst);
        // SAFETY: `before` was stored by `install` and is never freed; its handler is called as the kernel would.
        unsafe {
            match before.as_ref().map(|before| before.sa_sigaction) {
                None | Some(libc::SIG_DFL | libc::SIG_IGN) => {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Some(function) => {
                    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Handler>(function)(signal, info, context);
                }
            }
        }
    }
}

/// Makes overflows of tasks results.
pub(crate) fn install() {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    signal::install();
}

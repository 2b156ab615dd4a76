//! The processes of a run: begun by a server in the program, waited for, and ended whatever they do.

use super::Controller;
use crate::Trouble;
use crate::shared::{self, ENDED, MOVING, Pinned, SLOTS, Slot};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use stubborn_schedule::{Failure, FailureKind, ProcessId};

impl Controller {
    pub(super) fn begin_server(&mut self) -> Result<(), Trouble> {
        self.shared.is_ready.store(0, SeqCst);
        self.shared.wanted.store(0, SeqCst);
        self.shared.cleared.store(0, SeqCst);
        self.run = 0;
        // The program sees on which processors it could run, so it begins with all of them.
        self.pinned = None;
        let processor = shared::processor();
        self.shared.processor.store(processor.map_or(0, |processor| processor + 1), SeqCst);
        let [program, arguments @ ..] = self.settings.program.as_slice() else {
            return Err(Trouble::Nothing);
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("LD_PRELOAD", format!("/proc/self/fd/{}", self.library.as_raw_fd()));
        command.env("STUBBORN_FD", self.shared.file.as_raw_fd().to_string());
        // The environment is as long whatever these numbers are, so that what lies below it has the same addresses always.
        let digits = format!("{}{}", self.library.as_raw_fd(), self.shared.file.as_raw_fd()).len();
        command.env("STUBBORN_PADDING", "-".repeat(24_usize.saturating_sub(digits)));
        command.stdin(Stdio::null());
        if !self.settings.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        // Ctrl-C is for the controller.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        shared::without_random_addresses(&mut command);
        let mut server = command.spawn().map_err(|error| Trouble::Start(program.clone(), error))?;
        self.pinned = processor.and_then(Pinned::to);
        let deadline = Instant::now() + self.settings.patience;
        loop {
            let event = self.shared.event.load(SeqCst);
            if self.shared.is_ready.load(SeqCst) == 1 {
                break;
            }
            if let Ok(Some(status)) = server.try_wait() {
                return Err(Trouble::NotLoaded(program.clone(), status.to_string()));
            }
            if Instant::now() > deadline {
                // Nothing is left behind.
                let _ = server.kill();
                let _ = server.wait();
                return Err(Trouble::NotLoaded(program.clone(), "it runs without it".to_owned()));
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
        }
        self.server = Some(server);
        Ok(())
    }

    /// Ends the present run, whatever its processes do.
    pub(super) fn clear(&mut self) {
        if self.shared.cleared.load(SeqCst) == self.run {
            return;
        }
        let all_ended = self.tasks.iter().flatten().all(|task| task.is_ended);
        if !all_ended {
            self.kill_all();
        }
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.shared.cleared.load(SeqCst) != self.run {
            let event = self.shared.event.load(SeqCst);
            if self.shared.cleared.load(SeqCst) == self.run {
                break;
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
            let is_gone = self.server.as_mut().is_none_or(|server| !matches!(server.try_wait(), Ok(None)));
            if is_gone || Instant::now() > deadline {
                self.end_server();
                return;
            }
            // Who is about to end may have started somebody.
            self.kill_all();
        }
    }

    pub(super) fn kill_all(&self) {
        let main = self.shared.main_pid.load(SeqCst);
        shared::kill(-main);
        shared::kill(main);
        let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
        for slot in self.shared.slots[..n].iter().filter(|slot| slot.state.load(SeqCst) != ENDED) {
            shared::kill(slot.os_pid.load(SeqCst));
        }
    }

    pub(super) fn end_server(&mut self) {
        self.kill_all();
        if let Some(mut server) = self.server.take() {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
        self.shared.cleared.store(self.run, SeqCst);
    }

    /// Waits until nobody moves.
    pub(super) fn wait_until_quiet(&self) -> Result<(), Failure> {
        let mut began = Instant::now();
        let mut taken = 0;
        loop {
            let event = self.shared.event.load(SeqCst);
            // Turns that were known before are operations, too.
            if std::mem::replace(&mut taken, self.shared.taken.load(SeqCst)) != taken {
                began = Instant::now();
            }
            if self.shared.running.load(SeqCst) == 0 {
                return Ok(());
            }
            if self.shared.cleared.load(SeqCst) == self.run {
                let status = self.shared.main_status.load(SeqCst);
                return Err(Failure::new(
                    FailureKind::Panic,
                    0,
                    format!("the program ended {}", ending(status)),
                ));
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
            if began.elapsed() < Duration::from_millis(20) {
                continue;
            }
            self.look_for_the_dead()?;
            if began.elapsed() > self.settings.patience {
                return Err(self.diverged());
            }
        }
    }

    /// Tasks that were counted as moving.
    pub(super) fn movers(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
        self.shared.slots[..n].iter().enumerate().filter(|(_, slot)| slot.state.load(SeqCst) == MOVING)
    }

    pub(super) fn process_of_slot(&self, slot: usize) -> ProcessId {
        self.of_slot.get(slot).copied().unwrap_or(0)
    }

    /// A process that was killed does not say so.
    pub(super) fn look_for_the_dead(&self) -> Result<(), Failure> {
        for (i, slot) in self.movers() {
            let pid = slot.os_pid.load(SeqCst);
            if pid > 0 && matches!(state_of(pid, slot.os_tid.load(SeqCst)), None | Some('Z' | 'X')) {
                let message = "the process was killed, or ended without a word";
                return Err(Failure::new(FailureKind::Panic, self.process_of_slot(i), message));
            }
        }
        Ok(())
    }

    pub(super) fn diverged(&self) -> Failure {
        let seconds = self.settings.patience.as_secs_f64();
        let Some((i, slot)) = self.movers().next() else {
            return Failure::new(FailureKind::Divergence, 0, format!("nobody answered for {seconds:.1} s"));
        };
        let (pid, tid) = (slot.os_pid.load(SeqCst), slot.os_tid.load(SeqCst));
        let process = self.process_of_slot(i);
        if state_of(pid, tid) == Some('R') {
            let message = format!("ran without a visible operation for {seconds:.1} s");
            return Failure::new(FailureKind::Divergence, process, message);
        }
        // Nothing is known of such runs.
        let call = system_call(pid, tid);
        Failure::limit(
            process,
            format!("the program waited in {call} for {seconds:.1} s, which is not controlled"),
        )
    }
}

/// The system call in which a thread is.
fn system_call(pid: i32, tid: i32) -> String {
    let tid = if tid > 0 { tid } else { pid };
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).unwrap_or_default();
    let number = text.split(' ').next().and_then(|word| word.parse::<i64>().ok());
    let name = match number {
        Some(libc::SYS_read | libc::SYS_readv) => "read",
        Some(libc::SYS_write | libc::SYS_writev) => "write",
        Some(libc::SYS_openat) => "open",
        Some(libc::SYS_ppoll) => "poll",
        Some(libc::SYS_pselect6) => "select",
        Some(libc::SYS_epoll_pwait) => "epoll_wait",
        Some(libc::SYS_accept | libc::SYS_accept4) => "accept",
        Some(libc::SYS_connect) => "connect",
        Some(libc::SYS_recvfrom | libc::SYS_recvmsg) => "recv",
        Some(libc::SYS_rt_sigsuspend | libc::SYS_rt_sigtimedwait) => return "a wait for a signal".to_owned(),
        Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep) => "sleep",
        Some(libc::SYS_wait4 | libc::SYS_waitid) => "wait",
        Some(libc::SYS_futex) => "futex",
        Some(libc::SYS_flock | libc::SYS_fcntl) => return "a lock of a file".to_owned(),
        #[cfg(target_arch = "x86_64")]
        Some(libc::SYS_pause) => return "a wait for a signal".to_owned(),
        #[cfg(target_arch = "x86_64")]
        Some(libc::SYS_poll) => "poll",
        #[cfg(target_arch = "x86_64")]
        Some(libc::SYS_select) => "select",
        #[cfg(target_arch = "x86_64")]
        Some(libc::SYS_epoll_wait) => "epoll_wait",
        Some(number) => return format!("system call {number}"),
        None => return "a system call".to_owned(),
    };
    format!("the system call {name}")
}

/// The letter of the state of a thread.
pub(super) fn state_of(pid: i32, tid: i32) -> Option<char> {
    let tid = if tid > 0 { tid } else { pid };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

pub(super) fn ending(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("by {}", signal_name(libc::WTERMSIG(status)))
    } else {
        format!("with exit code {}", libc::WEXITSTATUS(status))
    }
}

pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT (abort, or an assertion that does not hold)",
        libc::SIGSEGV => "SIGSEGV (memory that is not there)",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE (division by zero, or the like)",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGPIPE => "SIGPIPE",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

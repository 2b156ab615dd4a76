//! The memory that a controlled program and its controller share. Mirrors `preload/protocol.h`.
//!
//! All unsafe code of the controller is here: one mapping, and sleeping on its words. Every field is atomic, so a
//! reference to the mapping is as good as any; the program may write what it likes there, and nothing that it
//! writes is trusted to be more than a number.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Says that the memory is ours.
const MAGIC: u32 = 0x5354_5542;
/// Threads and processes of a run, at most.
pub(crate) const SLOTS: usize = 512;
const DATA: usize = 8192;
const SETS: usize = 64;
/// Turns that can be known before, at most, and bytes of what comes of them.
pub(crate) const TURNS: usize = 8192;
pub(crate) const TEXT: usize = 1 << 20;

/// The operation before which a signal comes had to wait.
pub(crate) const WAITED: u32 = 256;

/// States of a slot.
pub(crate) const MOVING: u32 = 1;
pub(crate) const ANNOUNCED: u32 = 2;
pub(crate) const ENDED: u32 = 3;
pub(crate) const CRASHED: u32 = 4;

/// A thread of the program, in whichever of its processes.
#[repr(C)]
pub(crate) struct Slot {
    pub(crate) state: AtomicU32,
    pub(crate) op: AtomicU32,
    pub(crate) args: [AtomicU64; 4],
    pub(crate) out: AtomicU64,
    pub(crate) site: AtomicU64,
    pub(crate) parent: AtomicU32,
    pub(crate) process: AtomicU32,
    pub(crate) os_pid: AtomicI32,
    pub(crate) os_tid: AtomicI32,
    pub(crate) length: AtomicU32,
    pub(crate) is_thread: AtomicU32,
    pub(crate) image: AtomicU32,
    /// How often it has announced, and what, as one number.
    pub(crate) serial: AtomicU32,
    pub(crate) print: AtomicU64,
    /// Signals that wait until they are let through, and signals that are nothing to the process.
    pub(crate) blocked: AtomicU64,
    pub(crate) ignored: AtomicU64,
    /// Signals after which calls are made again that had to wait.
    pub(crate) restarts: AtomicU64,
    /// A signal that comes before what was announced, with [`WAITED`] if that had to wait; or 0.
    pub(crate) signal: AtomicU32,
    unused: AtomicU32,
    data: [AtomicU8; DATA],
}

impl Slot {
    pub(crate) fn arg(&self, i: usize) -> u64 {
        self.args[i].load(SeqCst)
    }

    /// So many bytes of the data.
    pub(crate) fn bytes(&self, length: usize) -> Vec<u8> {
        self.data[..length.min(DATA)].iter().map(|byte| byte.load(SeqCst)).collect()
    }

    /// Makes these the data.
    pub(crate) fn set_bytes(&self, bytes: &[u8]) {
        self.length.store(bytes.len().min(DATA) as u32, SeqCst);
        bytes.iter().zip(&self.data).for_each(|(&byte, place)| place.store(byte, SeqCst));
    }
}

/// A turn that is known before: a task that has announced this goes on with that.
#[repr(C)]
pub(crate) struct Turn {
    slot: AtomicU32,
    length: AtomicU32,
    text: AtomicU32,
    signal: AtomicU32,
    print: AtomicU64,
    out: AtomicU64,
}

/// What is shared.
#[repr(C)]
pub(crate) struct Shared {
    magic: AtomicU32,
    pub(crate) running: AtomicU32,
    pub(crate) event: AtomicU32,
    pub(crate) n_slots: AtomicU32,
    pub(crate) n_processes: AtomicU32,
    pub(crate) wanted: AtomicU32,
    pub(crate) cleared: AtomicU32,
    pub(crate) is_ready: AtomicU32,
    pub(crate) n_pipes: AtomicU32,
    /// The processor on which everybody runs, and one more; 0 for any.
    pub(crate) processor: AtomicU32,
    pub(crate) main_pid: AtomicI32,
    pub(crate) main_status: AtomicI32,
    controller: AtomicI32,
    /// Whether signals between processes are explored.
    pub(crate) has_signals: AtomicU32,
    pub(crate) base: AtomicU64,
    message: [AtomicU8; 256],
    pub(crate) n_sets: AtomicU32,
    set_keys: [AtomicI32; SETS],
    set_sizes: [AtomicI32; SETS],
    pub(crate) slots: [Slot; SLOTS],
    pub(crate) n_turns: AtomicU32,
    /// How many of them were taken.
    pub(crate) taken: AtomicU32,
    turns: [Turn; TURNS],
    texts: [AtomicU8; TEXT],
}

/// A mapping of [`Shared`].
pub(crate) struct Mapping {
    memory: NonNull<Shared>,
    pub(crate) file: OwnedFd,
}

impl Mapping {
    pub(crate) fn new() -> io::Result<Mapping> {
        let file = memory_file(c"stubborn")?;
        let size = size_of::<Shared>();
        File::from(file.try_clone()?).set_len(size as u64)?;
        // SAFETY: a new shared mapping of a file of this size, anywhere.
        let memory = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast::<Shared>()).ok_or_else(io::Error::last_os_error)?;
        let mapping = Mapping { memory, file };
        mapping.magic.store(MAGIC, SeqCst);
        mapping.controller.store(std::process::id() as i32, SeqCst);
        Ok(mapping)
    }
}

impl std::ops::Deref for Mapping {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        // SAFETY: the mapping is as large as `Shared`, aligned to a page, lives as long as `self`, and any bytes are a
        // `Shared`: all of its fields are atomic integers.
        unsafe { self.memory.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and no reference to it outlives `self`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), size_of::<Shared>()) };
    }
}

impl Shared {
    /// What the program said why it cannot be controlled.
    pub(crate) fn message(&self) -> String {
        let bytes = self.message.iter().map(|byte| byte.load(SeqCst)).take_while(|&byte| byte != 0);
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    }

    /// Writes down a turn: who goes on, having announced what, and what it gets; data are put at a place among the texts.
    pub(crate) fn set_turn(
        &self,
        number: usize,
        (slot, print): (usize, u64),
        (out, signal): (u64, u32),
        data: Option<(usize, &[u8])>,
    ) {
        let turn = &self.turns[number];
        turn.slot.store(slot as u32, SeqCst);
        turn.print.store(print, SeqCst);
        turn.out.store(out, SeqCst);
        turn.signal.store(signal, SeqCst);
        let (place, bytes) = data.unwrap_or_default();
        turn.length.store(data.map_or(u32::MAX, |data| data.1.len() as u32), SeqCst);
        turn.text.store(place as u32, SeqCst);
        bytes.iter().zip(&self.texts[place..]).for_each(|(&byte, place)| place.store(byte, SeqCst));
    }
}

/// A file in memory that programs started from here inherit.
pub(crate) fn memory_file(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    new_memory_file(name, 0)
}

/// A file in memory of our own, which programs can open while we have it.
pub(crate) fn own_memory_file() -> io::Result<OwnedFd> {
    new_memory_file(c"stubborn-shared", libc::MFD_CLOEXEC)
}

fn new_memory_file(name: &std::ffi::CStr, flags: libc::c_uint) -> io::Result<OwnedFd> {
    // SAFETY: the name ends with a zero; the number that comes back is a new file of ours, or negative.
    unsafe {
        match libc::memfd_create(name.as_ptr(), flags) {
            fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Makes a file one without contents.
pub(crate) fn empty(file: &OwnedFd) -> io::Result<()> {
    File::from(file.try_clone()?).set_len(0)
}

/// Sleeps while a word has a value, for some time at most.
pub(crate) fn sleep_on(word: &AtomicU32, value: u32, time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    // SAFETY: both pointers are to what lives during the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time) };
}

/// Wakes who sleeps on a word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the pointer is to what lives during the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// A thread that runs on one processor until this is dropped.
pub(crate) struct Pinned(libc::cpu_set_t);

impl Pinned {
    /// Keeps the calling thread on a processor. Controller and program take turns: on one processor, none need wake another to go on.
    pub(crate) fn to(processor: u32) -> Option<Pinned> {
        // SAFETY: a set of processors is an array of bits, and the calls get its size.
        unsafe {
            let mut before: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            let is_known = libc::sched_getaffinity(0, size, &raw mut before) == 0;
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(processor as usize, &mut one);
            (is_known && libc::sched_setaffinity(0, size, &raw const one) == 0).then_some(Pinned(before))
        }
    }
}

/// The processor on which the calling thread is, if it is one that can be named.
pub(crate) fn processor() -> Option<u32> {
    // SAFETY: no memory is involved.
    let here = u32::try_from(unsafe { libc::sched_getcpu() }).ok()?;
    ((here as usize) < 8 * size_of::<libc::cpu_set_t>()).then_some(here)
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const self.0) };
    }
}

/// Ends a process, or with a negative number a group of them, at once.
pub(crate) fn kill(pid: i32) {
    // Never everybody, and never ourselves.
    if !(-1..=1).contains(&pid) {
        // SAFETY: no memory is involved.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Makes a command start its program where programs always start, so that addresses are the same in every run; and end
/// with us, also if we are gone before it could ask for that.
pub(crate) fn without_random_addresses(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let parent = std::process::id();
    // SAFETY: only calls that may be made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

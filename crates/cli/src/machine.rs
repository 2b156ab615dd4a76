//! What the machine has to offer.

use std::fs::read_to_string;

/// The memory that a run may use unless told otherwise: half of what the machine, or the group that the
/// process belongs to, has. Eight gigabytes where that cannot be found out.
pub(crate) fn default_memory() -> usize {
    let machine = field("/proc/meminfo", "MemTotal:");
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|s| s.trim().parse().ok());
    machine.into_iter().chain(group).min().map_or(8 << 30, |bytes| bytes / 2)
}

/// The largest amount of memory that this process has used so far, if it can be found out.
pub(crate) fn peak_rss() -> Option<usize> {
    field("/proc/self/status", "VmHWM:")
}

/// A field like `MemTotal:  24000000 kB`, in bytes.
fn field(file: &str, name: &str) -> Option<usize> {
    let text = read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

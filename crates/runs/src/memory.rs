//! Available system memory.

/// Returns the memory available to new allocations, in bytes (Linux only).
#[must_use]
pub fn available_memory() -> Option<u64> {
    parse_meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::parse_meminfo;

    /// Lines in the format of proc(5).
    #[test]
    fn meminfo_is_parsed() {
        let text = "MemTotal:       24689764 kB\nMemFree:  1 kB\nMemAvailable:   22413176 kB\n";
        assert_eq!(parse_meminfo(text), Some(22_413_176 * 1024));
        assert_eq!(parse_meminfo("MemTotal: 3 kB\n"), None);
        assert_eq!(parse_meminfo("MemAvailable: many\n"), None);
    }
}

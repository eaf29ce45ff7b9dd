//! How much memory is left.

/// The bytes that programs may still ask for, where the system says so (Linux).
#[must_use]
pub fn available_memory() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::available;

    /// Lines as proc(5) describes them.
    #[test]
    fn the_systems_words_are_understood() {
        let text = "MemTotal:       24689764 kB\nMemFree:  1 kB\nMemAvailable:   22413176 kB\n";
        assert_eq!(available(text), Some(22_413_176 * 1024));
        assert_eq!(available("MemTotal: 3 kB\n"), None);
        assert_eq!(available("MemAvailable: many\n"), None);
    }
}

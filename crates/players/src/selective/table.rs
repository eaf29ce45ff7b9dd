//! The lock-free transposition table of the selective search.
//!
//! A bucket is one cache line of four entries. An entry consists of two words: the hash of the
//! position XORed with the data, and the data (Hyatt & Mann, 2002), so an entry that two threads
//! wrote at the same time does not match any position. The table is kept between moves; old and
//! shallow entries are replaced first.

use outflank_games::othello::{Board, Square};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// What a search has proven about a position, for its side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Lower bound of the score.
    pub lower: i16,
    /// Upper bound of the score.
    pub upper: i16,
    /// Search depth in plies; the number of empty squares for a search to the end.
    pub depth: u8,
    /// Confidence level of the search; see `confidence`.
    pub level: u8,
    /// The best move, or the one that caused the cutoff.
    pub best: Option<Square>,
    /// Number of the search that wrote or used the entry.
    age: u8,
}

impl Entry {
    fn encode(self) -> u64 {
        let best = self.best.map_or(64, |square| square.index() as u8);
        let [a, b] = self.lower.to_le_bytes();
        let [c, d] = self.upper.to_le_bytes();
        u64::from_le_bytes([a, b, c, d, self.depth, self.level, best, self.age])
    }

    fn decode(word: u64) -> Entry {
        let [a, b, c, d, depth, level, best, age] = word.to_le_bytes();
        let (lower, upper) = (i16::from_le_bytes([a, b]), i16::from_le_bytes([c, d]));
        Entry { lower, upper, depth, level, best: Square::new(best), age }
    }
}

#[derive(Default)]
struct Slot {
    key: AtomicU64,
    data: AtomicU64,
}

/// One cache line.
#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; 4]);

/// A transposition table of fixed size, shared by threads.
pub(super) struct Table {
    /// Allocated at first use.
    buckets: OnceLock<Vec<Bucket>>,
    bits: u32,
    age: AtomicU8,
}

/// Returns the hash of a board. Boards with equal hashes are treated as equal; with 64 bits and the
/// bits of the bucket, that happens about once in 10^14 probes of a full table.
#[inline(always)]
pub(super) fn hash(board: Board) -> u64 {
    let mixed = (board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(29)
        ^ board.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 29)
}

impl Table {
    /// Creates a table of `2^bits` buckets of four entries, 64 bytes each.
    pub fn new(bits: u32) -> Table {
        Table { buckets: OnceLock::new(), bits: bits.clamp(4, 26), age: AtomicU8::new(1) }
    }

    fn buckets(&self) -> &[Bucket] {
        self.buckets.get_or_init(|| (0..1u32 << self.bits).map(|_| Bucket::default()).collect())
    }

    /// Removes all entries.
    pub fn clear(&self) {
        let Some(buckets) = self.buckets.get() else { return };
        for slot in buckets.iter().flat_map(|bucket| &bucket.0) {
            slot.key.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(1, Relaxed);
    }

    /// Starts a new search. Entries of earlier searches remain valid but are replaced first.
    pub fn start_search(&self) {
        // Zero marks empty slots.
        let age = self.age.load(Relaxed);
        self.age.store(if age == u8::MAX { 1 } else { age + 1 }, Relaxed);
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> Option<&Bucket> {
        self.buckets().get((hash & ((1 << self.bits) - 1)) as usize)
    }

    /// Returns the entry of a position.
    #[inline(always)]
    pub fn get(&self, hash: u64) -> Option<Entry> {
        for slot in &self.bucket(hash)?.0 {
            let data = slot.data.load(Relaxed);
            if slot.key.load(Relaxed) ^ data == hash && data != 0 {
                return Some(Entry::decode(data));
            }
        }
        None
    }

    /// Stores the score that a search to `depth` plies at a confidence level returned for the
    /// window (alpha, beta).
    #[inline(always)]
    pub fn put(
        &self,
        hash: u64,
        (depth, level): (u32, u8),
        (alpha, beta): (i32, i32),
        score: i32,
        best: Option<Square>,
    ) {
        let Some(bucket) = self.bucket(hash) else { return };
        let age = self.age.load(Relaxed);
        let (depth, score) = (depth as u8, score.clamp(-0x7fff, 0x7fff));
        let mut entry = Entry { lower: i16::MIN, upper: i16::MAX, depth, level, best, age };
        let mut victim = &bucket.0[0];
        let mut lowest = i32::MAX;
        for slot in &bucket.0 {
            let data = slot.data.load(Relaxed);
            let old = Entry::decode(data);
            if slot.key.load(Relaxed) ^ data == hash && data != 0 {
                if (old.depth, old.level) == (depth, level) {
                    (entry.lower, entry.upper) = (old.lower, old.upper);
                    if i32::from(old.lower) > score || i32::from(old.upper) < score {
                        // Searches with different histories may contradict each other.
                        (entry.lower, entry.upper) = (i16::MIN, i16::MAX);
                    }
                } else if old.depth > depth && old.level >= level && old.age == age {
                    return;
                }
                if score <= alpha && old.best.is_some() {
                    // No move of a node that fails low is known to be best.
                    entry.best = old.best;
                }
                victim = slot;
                break;
            }
            let searches = i32::from(age.wrapping_sub(old.age));
            let value = if data == 0 { -1_000_000 } else { i32::from(old.depth) - 16 * searches };
            if value < lowest {
                (lowest, victim) = (value, slot);
            }
        }
        if score > alpha {
            entry.lower = entry.lower.max(score as i16);
        }
        if score < beta {
            entry.upper = entry.upper.min(score as i16);
        }
        let data = entry.encode();
        victim.key.store(hash ^ data, Relaxed);
        victim.data.store(data, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_equal_depth_are_combined_and_deep_entries_stay() {
        let table = Table::new(4);
        let key = hash(Board::START);
        assert_eq!(table.get(key), None);
        table.put(key, (6, 3), (10, 11), 15, Square::new(19));
        table.put(key, (6, 3), (20, 21), 18, None);
        let entry = table.get(key).unwrap();
        assert_eq!((entry.lower, entry.upper, entry.best), (15, 18, Square::new(19)));
        table.put(key, (4, 3), (0, 1), 5, Square::new(26));
        assert_eq!(table.get(key).unwrap().depth, 6);
        // An old entry is replaced by a shallower one.
        table.start_search();
        table.put(key, (4, 3), (0, 1), 5, Square::new(26));
        assert_eq!(table.get(key).unwrap().depth, 4);
        table.clear();
        assert_eq!(table.get(key), None);
    }

    #[test]
    fn a_full_bucket_replaces_the_shallowest_old_entry() {
        let table = Table::new(4);
        // Equal low bits select the same bucket.
        let key = |number: u64| (number << 32) | 5;
        for (number, depth) in [(1, 9), (2, 3), (3, 7), (4, 8)] {
            table.put(key(number), (depth, 7), (0, 1), 1, None);
        }
        table.put(key(5), (2, 7), (0, 1), 1, None);
        assert_eq!(
            [1, 2, 3, 4, 5].map(|n| table.get(key(n)).is_some()),
            [true, false, true, true, true]
        );
    }

    /// Threads write entries whose fields are functions of the key; a reader never sees a mixture.
    #[test]
    fn concurrent_writes_never_mix_entries() {
        let table = Table::new(4);
        let fields = |key: u64| ((key % 60) as u32, (key % 8) as u8, (key % 1000) as i32);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (table, fields) = (&table, &fields);
                scope.spawn(move || {
                    let mut state = thread + 1;
                    for _ in 0..100_000 {
                        state = crate::position_hash::finalize(state);
                        let key = crate::position_hash::finalize(state % 500);
                        let (depth, level, score) = fields(key);
                        if let Some(entry) = table.get(key) {
                            assert_eq!((u32::from(entry.depth), entry.level), (depth, level));
                            assert_eq!(i32::from(entry.lower), score);
                        }
                        table.put(key, (depth, level), (-2000, 2000), score, Square::new(9));
                    }
                });
            }
        });
    }
}

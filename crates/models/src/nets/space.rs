//! Room for numbers that is kept from one use to the next.

/// Room that was given back. A batch takes megabytes for what every node gives; asking the system for
/// them anew each time costs more than filling them.
#[derive(Clone, Debug, Default)]
pub struct Space {
    free: Vec<Vec<f32>>,
}

impl Space {
    /// Room for so many numbers, whatever they are.
    pub(super) fn any(&mut self, count: usize) -> Vec<f32> {
        // Large room is left to those who need it.
        let fits = |room: &Vec<f32>| (count..=2 * count).contains(&room.capacity());
        let fitting = (0..self.free.len()).filter(|&at| fits(&self.free[at]));
        let smallest = fitting.min_by_key(|&at| self.free[at].capacity());
        let mut room = smallest.map(|at| self.free.swap_remove(at)).unwrap_or_default();
        room.resize(count, 0.0);
        room
    }

    /// So many noughts.
    pub(super) fn noughts(&mut self, count: usize) -> Vec<f32> {
        let mut room = self.any(count);
        room.fill(0.0);
        room
    }

    /// Takes room back.
    pub fn keep(&mut self, room: Vec<f32>) {
        if room.capacity() > 0 {
            self.free.push(room);
        }
    }

    /// How many numbers there is room for.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> usize {
        self.free.iter().map(Vec::capacity).sum()
    }
}

//! A pool of reusable buffers.

/// A pool of free buffers.
///
/// A batch needs megabytes for the outputs of all nodes; allocating them each time takes longer
/// than filling them.
#[derive(Clone, Debug, Default)]
pub struct BufferPool {
    free: Vec<Vec<f32>>,
}

impl BufferPool {
    /// Takes a buffer of `count` numbers with unspecified contents.
    pub(super) fn take(&mut self, count: usize) -> Vec<f32> {
        // Larger buffers are left for larger requests.
        let fits = |buffer: &Vec<f32>| (count..=2 * count).contains(&buffer.capacity());
        let fitting = (0..self.free.len()).filter(|&at| fits(&self.free[at]));
        let smallest = fitting.min_by_key(|&at| self.free[at].capacity());
        let mut buffer = smallest.map(|at| self.free.swap_remove(at)).unwrap_or_default();
        buffer.resize(count, 0.0);
        buffer
    }

    /// Takes a buffer of `count` zeros.
    pub(super) fn take_zeroed(&mut self, count: usize) -> Vec<f32> {
        let mut buffer = self.take(count);
        buffer.fill(0.0);
        buffer
    }

    /// Returns a buffer to the pool.
    pub fn release(&mut self, buffer: Vec<f32>) {
        if buffer.capacity() > 0 {
            self.free.push(buffer);
        }
    }

    /// Returns the total capacity of the free buffers.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.free.iter().map(Vec::capacity).sum()
    }
}

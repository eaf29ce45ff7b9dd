//! Numbers as bytes, for the states of learners.

/// Encodes numbers in little-endian order.
pub(crate) fn f64_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Decodes the output of [`f64_bytes`].
pub(crate) fn f64_numbers(bytes: &[u8]) -> Option<Vec<f64>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| numbers.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect())
}

/// Decodes exactly `count` numbers.
pub(crate) fn f64_numbers_of(bytes: &[u8], count: usize) -> Result<Vec<f64>, String> {
    f64_numbers(bytes).filter(|numbers| numbers.len() == count).ok_or_else(mismatch)
}

/// Encodes numbers in little-endian order.
pub(crate) fn f32_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Decodes the output of [`f32_bytes`].
pub(crate) fn f32_numbers(bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}

/// Encodes indices in little-endian order.
pub(crate) fn u32_bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Decodes exactly `count` indices.
pub(crate) fn u32_numbers_of(bytes: &[u8], count: usize) -> Result<Vec<u32>, String> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.len() != count || !rest.is_empty() {
        return Err(mismatch());
    }
    Ok(numbers.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect())
}

/// The error for a state of another learner.
pub(crate) fn mismatch() -> String {
    "it belongs to a run with other data or settings".to_owned()
}

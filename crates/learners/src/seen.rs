//! What whoever watches a learner is shown after each of its steps.

/// Where a learner that goes step by step stands.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Which Newton step, pass or sweep this was, from 1.
    pub step: u32,
    /// What the method minimises or maximises; no number where it is not computed on the way.
    pub value: f64,
    /// How far from the end it is, as the method's tolerance measures it.
    pub left: f64,
    /// The weights so far, one for each feature.
    pub weights: &'a [f64],
}

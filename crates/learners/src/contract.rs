//! Test helpers that check the contract of [`Learner`] for any training method.

use crate::training::Learner;

/// Checks that a learner can stop after every step: a new learner that is restored from the state
/// continues to the same states and metrics. Also checks that a damaged state is an error.
///
/// `new` creates the learner with the same configuration and data each time. At most `steps` steps
/// are checked, fewer if the learner converges.
///
/// # Panics
///
/// Panics with the property and the step if the contract is violated.
pub fn check_learner<L: Learner>(new: impl Fn() -> L, steps: u64) {
    let begun = || {
        let mut learner = new();
        learner.begin().unwrap_or_else(|error| panic!("begin: {error}"));
        learner
    };
    let (mut whole, mut resumed) = (begun(), begun());
    let mut done = 0;
    while done < steps && !whole.is_converged() {
        let expected = whole.spent() + whole.next_cost();
        for learner in [&mut whole, &mut resumed] {
            learner.step().unwrap_or_else(|error| panic!("step {}: {error}", done + 1));
        }
        done += 1;
        assert_eq!(whole.spent(), expected, "step {done} does not take its announced budget");
        assert_eq!(resumed.spent(), expected, "the budget is not part of the state");
        let state = whole.state().unwrap_or_else(|error| panic!("state: {error}"));
        let state_of_resumed = resumed.state().unwrap_or_else(|error| panic!("state: {error}"));
        assert_eq!(state, state_of_resumed, "a restored learner differs after step {done}");
        // Compared as text, because a metric can be NaN before the first measurement.
        let [metrics, metrics_of_resumed] =
            [&mut whole, &mut resumed].map(|learner| format!("{:?}", learner.metrics()));
        assert_eq!(metrics, metrics_of_resumed, "a restored learner measures other values");
        assert!(whole.model().is_ok(), "there is no model after step {done}");
        resumed = new();
        let restored = resumed.restore(&state);
        assert_eq!(restored, Ok(()), "the state of step {done} is not accepted");
    }
    assert!(done > 0, "the learner takes no step");
    assert_eq!(
        resumed.is_converged(),
        whole.is_converged(),
        "convergence is not part of the state"
    );
    assert!(new().restore(&[]).is_err(), "an empty state is accepted");
}

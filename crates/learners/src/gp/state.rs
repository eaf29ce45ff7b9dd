//! Serialization of the learner's state, exact to the bit.
//!
//! Six sections of little-endian 64-bit words: the points, row by row; winner and loser of each
//! comparison; the kernel parameters; the precisions and precision-means of the EP sites; the
//! statistics of the rounds; the benchmark scores. The posterior is not stored; it is recomputed
//! from the other sections.

use super::active_learner::{ActiveLearner, GpConfig};
use super::ep::{Comparison, Sites, check};
use super::kernel::Kernel;
use super::learner::RoundStats;
use super::posterior::Posterior;

/// Number of values per round.
const VALUES_PER_ROUND: usize = 7;

/// Serializes the state.
pub(super) fn write(active: &ActiveLearner, scores: &[f64], rounds: &[RoundStats]) -> Vec<Vec<u8>> {
    let floats = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        numbers.flat_map(f64::to_le_bytes).collect()
    };
    let values = |round: &RoundStats| {
        let counts = [round.games as f64, round.comparisons as f64];
        let RoundStats { log_evidence, mean, variance, accuracy, best_score, .. } = *round;
        [counts[0], log_evidence, counts[1], mean, variance, accuracy, best_score]
    };
    vec![
        floats(&mut active.points.iter().flatten().copied()),
        active
            .comparisons
            .iter()
            .flat_map(|c| [c.winner as u64, c.loser as u64])
            .flat_map(u64::to_le_bytes)
            .collect(),
        floats(&mut active.log_parameters.iter().copied()),
        floats(&mut active.sites.precision.iter().chain(&active.sites.precision_mean).copied()),
        floats(&mut rounds.iter().flat_map(values)),
        floats(&mut scores.iter().copied()),
    ]
}

/// Deserializes the state; inconsistent sections are an error.
pub(super) fn read(
    config: GpConfig,
    scored: bool,
    sections: &[Vec<u8>],
) -> Result<(ActiveLearner, Vec<f64>, Vec<RoundStats>), String> {
    let [points, comparisons, logs, sites, curve, scores] = sections else {
        return Err(format!("a state has 6 sections, not {}", sections.len()));
    };
    let floats = |bytes: &Vec<u8>| -> Result<Vec<f64>, String> {
        let (words, rest) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        match rest.is_empty() && numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err("a section is truncated or has a value that is not finite".to_owned()),
        }
    };
    let mut active = ActiveLearner::new(config).map_err(|error| error.to_string())?;
    let (flat, logs, curve) = (floats(points)?, floats(logs)?, floats(curve)?);
    let (sites, scores) = (floats(sites)?, floats(scores)?);
    active.points = flat.chunks(config.dimensions).map(<[f64]>::to_vec).collect();
    let (words, rest) = comparisons.as_chunks::<16>();
    active.comparisons = words
        .iter()
        .map(|word| {
            let number = |from: usize| {
                let bytes = word[from..from + 8].try_into().unwrap_or([0xff; 8]);
                usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
            };
            Comparison { winner: number(0), loser: number(8) }
        })
        .collect();
    let (rounds, incomplete) = curve.as_chunks::<VALUES_PER_ROUND>();
    let expected = if scored { active.points.len() } else { 0 };
    let fits = flat.len() % config.dimensions == 0
        && rest.is_empty()
        && incomplete.is_empty()
        && logs.len() == active.log_parameters.len()
        && sites.len() == 2 * active.comparisons.len()
        && scores.len() == expected
        && rounds.is_empty() == active.points.is_empty();
    if !fits {
        return Err("the sections do not match each other or the configuration".to_owned());
    }
    check(active.points.len(), &active.comparisons).map_err(|error| error.to_string())?;
    let (precision, precision_mean) = sites.split_at(active.comparisons.len());
    active.sites = Sites { precision: precision.to_vec(), precision_mean: precision_mean.to_vec() };
    active.log_parameters = logs;
    active.round = rounds.len() as u64;
    if active.round > 0 {
        let kernel = Kernel::from_logs(&active.log_parameters);
        let posterior =
            Posterior::from_sites(&kernel, &active.points, &active.comparisons, &active.sites);
        let posterior = posterior.map_err(|error| error.to_string())?;
        active.posterior = Some(posterior.with_space(config.space));
    }
    let rounds = rounds
        .iter()
        .map(|&[games, log_evidence, comparisons, mean, variance, accuracy, best_score]| {
            RoundStats {
                games: games as u64,
                log_evidence,
                comparisons: comparisons as u64,
                mean,
                variance,
                accuracy,
                best_score,
            }
        })
        .collect();
    Ok((active, scores, rounds))
}

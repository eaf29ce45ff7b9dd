//! A learner's state as bytes, all numbers with their every bit.
//!
//! Six parts of little-endian 64-bit words: the points, row by row; two numbers for each
//! comparison; the parameters; the precisions and shifts of the sites; the curve; the scores. The belief
//! itself is not stored: it follows from the rest.

use super::active::{Active, Settings};
use super::ep::{Comparison, Sites, check};
use super::kernel::Kernel;
use super::learner::Round;
use super::posterior::Posterior;

/// How many numbers a round of the curve has.
const ROUND: usize = 7;

/// The state.
pub(super) fn write(active: &Active, scores: &[f64], rounds: &[Round]) -> Vec<Vec<u8>> {
    let floats = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<u8> {
        numbers.flat_map(f64::to_le_bytes).collect()
    };
    let curve = |round: &Round| {
        let counts = [round.games as f64, round.comparisons as f64];
        let Round { evidence, mean, variance, foreseen, best, .. } = *round;
        [counts[0], evidence, counts[1], mean, variance, foreseen, best]
    };
    vec![
        floats(&mut active.points.iter().flatten().copied()),
        active
            .comparisons
            .iter()
            .flat_map(|c| [c.winner as u64, c.loser as u64])
            .flat_map(u64::to_le_bytes)
            .collect(),
        floats(&mut active.logs.iter().copied()),
        floats(&mut active.sites.precision.iter().chain(&active.sites.shift).copied()),
        floats(&mut rounds.iter().flat_map(curve)),
        floats(&mut scores.iter().copied()),
    ]
}

/// The state back from its parts; whatever does not fit together is an error.
pub(super) fn read(
    settings: Settings,
    scored: bool,
    parts: &[Vec<u8>],
) -> Result<(Active, Vec<f64>, Vec<Round>), String> {
    let [points, comparisons, logs, sites, curve, scores] = parts else {
        return Err(format!("a state has 6 parts, not {}", parts.len()));
    };
    let floats = |bytes: &Vec<u8>| -> Result<Vec<f64>, String> {
        let (words, rest) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
        match rest.is_empty() && numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            false => Err("a part is cut short or holds what is no number".to_owned()),
        }
    };
    let mut active = Active::new(settings).map_err(|error| error.to_string())?;
    let (flat, logs, curve) = (floats(points)?, floats(logs)?, floats(curve)?);
    let (sites, scores) = (floats(sites)?, floats(scores)?);
    active.points = flat.chunks(settings.dimensions).map(<[f64]>::to_vec).collect();
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
    let (rounds, torn) = curve.as_chunks::<ROUND>();
    let expected = if scored { active.points.len() } else { 0 };
    let fits = flat.len() % settings.dimensions == 0
        && rest.is_empty()
        && torn.is_empty()
        && logs.len() == active.logs.len()
        && sites.len() == 2 * active.comparisons.len()
        && scores.len() == expected
        && rounds.is_empty() == active.points.is_empty();
    if !fits {
        return Err("its parts are not of one state, or of other settings".to_owned());
    }
    check(active.points.len(), &active.comparisons).map_err(|error| error.to_string())?;
    let (precision, shift) = sites.split_at(active.comparisons.len());
    active.sites = Sites { precision: precision.to_vec(), shift: shift.to_vec() };
    active.logs = logs;
    active.round = rounds.len() as u64;
    if active.round > 0 {
        let kernel = Kernel::from_logs(&active.logs);
        let posterior =
            Posterior::recall(&kernel, &active.points, &active.comparisons, &active.sites);
        let posterior = posterior.map_err(|error| error.to_string())?;
        active.posterior = Some(posterior.within(settings.space));
    }
    let rounds = rounds
        .iter()
        .map(|&[games, evidence, comparisons, mean, variance, foreseen, best]| Round {
            games: games as u64,
            evidence,
            comparisons: comparisons as u64,
            mean,
            variance,
            foreseen,
            best,
        })
        .collect();
    Ok((active, scores, rounds))
}

//! Search operators on whole networks (Krawiec and Szubert, 2011, section 4.2): where a network
//! begins, weight mutation, topology mutation and topology crossover.

use super::settings::CoevolutionConfig;
use super::shape::TupleShape;
use outflank_models::tuple_shapes::{NeighborChoice, blocks, mutated, snake, systematic};
use outflank_models::{NTupleNetwork, Tuple, TupleError, Tuples, View};
use outflank_runs::{RngExt, Rng};

/// A new individual: its tuples drawn or systematic, its weights zero or uniform.
pub fn fresh(settings: &CoevolutionConfig, rng: &mut Rng) -> Result<NTupleNetwork, TupleError> {
    let squares = match settings.shape {
        TupleShape::Snakes { tuples, length } => (0..tuples)
            .map(|_| snake(length, settings.snake, rng))
            .collect::<Result<Vec<_>, _>>()?,
        TupleShape::Systematic { length, blocks } => systematic(length, blocks)?,
        TupleShape::Blocks => blocks(),
    };
    let mut network = NTupleNetwork::zero(Tuples::symmetric(&squares)?, View::Negate);
    if settings.spread > 0.0 {
        for weight in network.weights_mut() {
            *weight = (settings.spread * (2.0 * rng.unit() - 1.0)) as f32;
        }
    }
    Ok(network)
}

/// Weight mutation: each weight gains a normal variate of this deviation with this probability.
pub fn mutate_weights(network: &mut NTupleNetwork, probability: f64, deviation: f64, rng: &mut Rng) {
    if probability <= 0.0 {
        return;
    }
    for weight in network.weights_mut() {
        if rng.chance(probability) {
            *weight = (f64::from(*weight) + deviation * rng.normal()) as f32;
        }
    }
}

/// Topology mutation: each square of each tuple moves with this probability to a neighbouring one;
/// the tables stay as they are.
pub fn mutate_topology(
    network: &mut NTupleNetwork,
    probability: f64,
    reading: NeighborChoice,
    rng: &mut Rng,
) -> Result<(), TupleError> {
    if probability <= 0.0 {
        return Ok(());
    }
    let mut changed = false;
    let mut tuples = Vec::with_capacity(network.tuples().tuples().len());
    for tuple in network.tuples().tuples() {
        let old: Vec<u8> = tuple.placements()[0].iter().map(|square| square.index() as u8).collect();
        let new = mutated(&old, probability, reading, rng);
        changed |= new != old;
        tuples.push(if new == old { tuple.clone() } else { Tuple::symmetric(&new)? });
    }
    if changed {
        *network = rebuilt(tuples, network.weights().to_vec())?;
    }
    Ok(())
}

/// Topology crossover: two networks exchange half of their tuples (rounded down), drawn at random,
/// each with its table and at its place.
pub fn crossover(one: &mut NTupleNetwork, two: &mut NTupleNetwork, rng: &mut Rng) -> Result<(), TupleError> {
    let count = one.tuples().tuples().len().min(two.tuples().tuples().len());
    let mut places: Vec<usize> = (0..count).collect();
    rng.shuffle(&mut places);
    let mut swapped = vec![false; count];
    places[..count / 2].iter().for_each(|&place| swapped[place] = true);
    let child = |own: &NTupleNetwork, other: &NTupleNetwork| {
        let (mut tuples, mut weights) = (Vec::new(), Vec::new());
        let tables = |network: &NTupleNetwork| -> Vec<(usize, Tuple)> {
            network.tuples().offsets().zip(network.tuples().tuples().iter().cloned()).collect()
        };
        for (place, (own_table, other_table)) in
            tables(own).into_iter().zip(tables(other)).enumerate()
        {
            let (from, (offset, tuple)) =
                if swapped[place] { (other, other_table) } else { (own, own_table) };
            weights.extend_from_slice(&from.weights()[offset..offset + tuple.entries()]);
            tuples.push(tuple);
        }
        rebuilt(tuples, weights)
    };
    let (first, second) = (child(one, two)?, child(two, one)?);
    (*one, *two) = (first, second);
    Ok(())
}

fn rebuilt(tuples: Vec<Tuple>, weights: Vec<f32>) -> Result<NTupleNetwork, TupleError> {
    let tuples = Tuples::new(tuples)?;
    let size = TupleError::Size { weights: weights.len(), max: Tuples::MAX_WEIGHTS };
    NTupleNetwork::new(tuples, weights, View::Negate).ok_or(size)
}

/// Who becomes a parent: the fittest of `size` individuals drawn with replacement, the first drawn
/// among equals.
pub fn tournament(fitness: &[u64], population: usize, size: usize, rng: &mut Rng) -> usize {
    let mut winner = rng.below(population as u32) as usize;
    for _ in 1..size {
        let other = rng.below(population as u32) as usize;
        if fitness.get(other) > fitness.get(winner) {
            winner = other;
        }
    }
    winner
}

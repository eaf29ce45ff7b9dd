//! Search operators on networks (Krawiec & Szubert 2011, section 4.2): initialization, weight
//! mutation, topology mutation, topology crossover and tournament selection.

use super::config::CoevolutionConfig;
use super::tuple_shape::TupleShape;
use outflank_models::tuple_shapes::{NeighborChoice, blocks, mutated, snake, systematic};
use outflank_models::{NTupleNetwork, Tuple, TupleError, Tuples, View};
use outflank_runs::{Rng, RngExt};

/// Creates an individual with random or systematic tuples and with zero or uniform weights.
pub fn random_individual(
    config: &CoevolutionConfig,
    rng: &mut Rng,
) -> Result<NTupleNetwork, TupleError> {
    let squares = match config.shape {
        TupleShape::Snakes { tuples, length } => {
            (0..tuples).map(|_| snake(length, config.snake, rng)).collect::<Result<Vec<_>, _>>()?
        }
        TupleShape::Systematic { length, blocks } => systematic(length, blocks)?,
        TupleShape::Blocks => blocks(),
    };
    let mut network = NTupleNetwork::zero(Tuples::symmetric(&squares)?, View::Negate);
    if config.init_range > 0.0 {
        for weight in network.weights_mut() {
            *weight = (config.init_range * (2.0 * rng.unit() - 1.0)) as f32;
        }
    }
    Ok(network)
}

/// Adds a normal variate to each weight with the given probability.
pub fn mutate_weights(
    network: &mut NTupleNetwork,
    probability: f64,
    deviation: f64,
    rng: &mut Rng,
) {
    if probability <= 0.0 {
        return;
    }
    for weight in network.weights_mut() {
        if rng.chance(probability) {
            *weight = (f64::from(*weight) + deviation * rng.normal()) as f32;
        }
    }
}

/// Moves each square of each tuple to a neighboring one with the given probability; the weights
/// stay.
pub fn mutate_topology(
    network: &mut NTupleNetwork,
    probability: f64,
    neighbor_choice: NeighborChoice,
    rng: &mut Rng,
) -> Result<(), TupleError> {
    if probability <= 0.0 {
        return Ok(());
    }
    let mut changed = false;
    let mut tuples = Vec::with_capacity(network.tuples().tuples().len());
    for tuple in network.tuples().tuples() {
        let old: Vec<u8> =
            tuple.placements()[0].iter().map(|square| square.index() as u8).collect();
        let new = mutated(&old, probability, neighbor_choice, rng);
        changed |= new != old;
        tuples.push(if new == old { tuple.clone() } else { Tuple::symmetric(&new)? });
    }
    if changed {
        *network = rebuilt(tuples, network.weights().to_vec())?;
    }
    Ok(())
}

/// Exchanges a random half of the tuples of two networks (rounded down), with their weights,
/// position by position.
pub fn crossover(
    one: &mut NTupleNetwork,
    two: &mut NTupleNetwork,
    rng: &mut Rng,
) -> Result<(), TupleError> {
    let count = one.tuples().tuples().len().min(two.tuples().tuples().len());
    let mut positions: Vec<usize> = (0..count).collect();
    rng.shuffle(&mut positions);
    let mut swapped = vec![false; count];
    positions[..count / 2].iter().for_each(|&at| swapped[at] = true);
    let child = |own: &NTupleNetwork, other: &NTupleNetwork| {
        let (mut tuples, mut weights) = (Vec::new(), Vec::new());
        let tables = |network: &NTupleNetwork| -> Vec<(usize, Tuple)> {
            network.tuples().offsets().zip(network.tuples().tuples().iter().cloned()).collect()
        };
        for (at, (own_table, other_table)) in tables(own).into_iter().zip(tables(other)).enumerate()
        {
            let (from, (offset, tuple)) =
                if swapped[at] { (other, other_table) } else { (own, own_table) };
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

/// Selects a parent: the fittest of `size` individuals drawn with replacement; of equals, the first
/// drawn.
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

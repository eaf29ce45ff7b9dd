//! Coevolutionary gradient search for n-tuple networks (Krawiec & Szubert, 2011, sections 3 and 4).
//!
//! This is a family of methods that combine temporal-difference learning, which changes weights
//! along a gradient, with coevolution, which selects and recombines whole n-tuple networks:
//!
//! ```text
//! training     weight += alpha (P_next - P) (1 - P^2)
//! fitness      points = 2 wins + draws
//! mutation     weight += N(0, deviation^2), with a given probability
//! ```
//!
//! A generation has three phases, each of which the [`CoevolutionConfig`] may disable:
//!
//! 1. Training: every individual plays TDL games ([`crate::tdl`]) against itself, other
//!    individuals, and an archive of the best of earlier generations.
//! 2. Evaluation: fitness by games among the individuals and against a hall of fame, or against a
//!    fixed player (section 4.3). The best individual joins the archive.
//! 3. Variation: tournament selection, then crossover and mutation ([`variation`], section 4.2).
//!
//! The methods of the paper are configurations:
//!
//! | method | configuration |
//! |---|---|
//! | TDL | one individual that only trains |
//! | PTDL | a population that only trains |
//! | CEL | a population that never trains; with an archive, it has a hall of fame |
//! | CTDL | all phases, fitness by games among the individuals |
//! | ETDL | all phases, fitness by games against a fixed player |
//!
//! Departures from the paper:
//!
//! 1. The opponents in training have their weights from the start of the generation. The RNG stream
//!    of a training game is named by the individual and the game number; all other streams are
//!    named by the generation. Results therefore do not depend on the number of threads or on
//!    remote workers ([`Coevolution::with_remote`]), and a single individual does not depend on the
//!    grouping of its games into generations.
//! 2. If individuals have no fitness, a round robin determines the best one. Its games are not part
//!    of the budget.

mod config;
mod fitness;
mod remote;
mod tuple_shape;
mod validation;
pub mod variation;

use crate::tdl::TdlConfig;
use crate::training::{Learner, StepError};
use fitness::{GenerationContext, argmax, evaluate, round_robin_winner};
use outflank_models::files::{Origin, read_safetensors, write_safetensors};
use outflank_models::{Model, NTupleNetwork, TupleError};
use outflank_runs::{RngExt, WorkQueue, parallel_in_order, rng};
use remote::{RemoteGames, TrainingJob};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use variation::{crossover, mutate_topology, mutate_weights, random_individual, tournament};

pub use config::{CoevolutionConfig, CoevolutionConfigError, Fitness, KEYS};
pub use remote::GenerationJobHandler;
pub use tuple_shape::TupleShape;

/// An error of [`Coevolution::new`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoevolutionError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] CoevolutionConfigError),
    /// The tuples do not form a network.
    #[error(transparent)]
    Tuples(#[from] TupleError),
}

/// The learner: a population of n-tuple networks and its archive.
#[derive(Clone, Debug)]
pub struct Coevolution {
    config: CoevolutionConfig,
    seed: u64,
    threads: usize,
    generation: u64,
    spent: u64,
    population: Vec<NTupleNetwork>,
    archive: Vec<NTupleNetwork>,
    /// The best of the last generation, before variation.
    best: Option<NTupleNetwork>,
    /// Remote workers that play the games, if any.
    remote: Option<RemoteGames>,
}

/// The header of a checkpoint, followed by the networks.
#[derive(Serialize, Deserialize)]
struct CheckpointHeader {
    generation: u64,
    spent: u64,
    population: usize,
    archive: usize,
    best: bool,
}

impl Coevolution {
    /// Creates the initial population.
    pub fn new(
        config: CoevolutionConfig,
        seed: u64,
        threads: usize,
    ) -> Result<Coevolution, CoevolutionError> {
        config.validate()?;
        let population: Result<Vec<_>, _> = (0..config.population)
            .map(|i| random_individual(&config, &mut rng::stream(seed, &["fresh", &i.to_string()])))
            .collect();
        Ok(Coevolution {
            population: population?,
            config,
            seed,
            threads,
            generation: 0,
            spent: 0,
            archive: Vec::new(),
            best: None,
            remote: None,
        })
    }

    /// Lets remote workers play the games of every generation.
    #[must_use]
    pub fn with_remote(mut self, queue: Arc<dyn WorkQueue>) -> Coevolution {
        self.remote = Some(RemoteGames { queue });
        self
    }

    /// Returns the individuals.
    #[must_use]
    pub fn population(&self) -> &[NTupleNetwork] {
        &self.population
    }

    /// Returns the archive, the newest member last.
    #[must_use]
    pub fn archive(&self) -> &[NTupleNetwork] {
        &self.archive
    }

    fn context(&self) -> GenerationContext {
        GenerationContext { seed: self.seed, generation: self.generation, threads: self.threads }
    }

    /// Phase 1: plays the training games and returns the trained individuals.
    fn train(&self) -> Result<Vec<NTupleNetwork>, StepError> {
        let before = &self.population;
        let games = self.config.training_games();
        if games == 0 {
            return Ok(before.clone());
        }
        let config = &self.config;
        let jobs: Vec<TrainingJob> = (0..before.len())
            .map(|individual| TrainingJob {
                individual,
                first: self.generation * games,
                opponents: self.opponents(individual),
            })
            .collect();
        let tdl_config = TdlConfig { learning_rate: config.learning_rate, epsilon: config.epsilon };
        let players: Vec<&NTupleNetwork> = before.iter().chain(&self.archive).collect();
        if let Some(remote) = &self.remote {
            return remote::train(remote, &players, &jobs, tdl_config, self.context());
        }
        let mut trained = Vec::with_capacity(before.len());
        parallel_in_order(
            before.len(),
            self.threads,
            || (),
            |(), individual| jobs[individual].play(|number| players[number], tdl_config, self.seed),
            |_, network| {
                trained.push(network);
                true
            },
        );
        Ok(trained)
    }

    /// Returns the training opponents of an individual with the number of games: indices of the
    /// population followed by the archive, or `None` for self-play.
    fn opponents(&self, individual: usize) -> Vec<(Option<usize>, u64)> {
        let config = &self.config;
        let path = ["opponents", &self.generation.to_string(), &individual.to_string()];
        let mut rng = rng::stream(self.seed, &path);
        let mut opponents = vec![(None, config.self_play_games)];
        if config.population_games > 0 {
            let mut others: Vec<usize> =
                (0..self.population.len()).filter(|&other| other != individual).collect();
            rng.shuffle(&mut others);
            let drawn = others.iter().take(config.population_opponents);
            opponents.extend(drawn.map(|&other| (Some(other), config.population_games)));
        }
        let newest = self.archive.len().saturating_sub(1);
        for number in 0..config.archive_opponents {
            let member = match config.archive_newest {
                // While the archive is short, its oldest member is repeated.
                true => newest.saturating_sub(number),
                false => rng.below(self.archive.len() as u32) as usize,
            };
            // While the archive is empty, self-play replaces these games.
            let exists = member < self.archive.len();
            let member = exists.then_some(self.population.len() + member);
            opponents.push((member, config.archive_games));
        }
        opponents
    }

    /// Phase 3: selection, crossover and mutation.
    fn vary(&mut self, points: &[u64]) -> Result<(), TupleError> {
        let config = &self.config;
        let mut rng = rng::stream(self.seed, &["variation", &self.generation.to_string()]);
        let size = self.population.len();
        if config.tournament_size > 0 {
            let mut children: Vec<NTupleNetwork> = Vec::with_capacity(size + 1);
            while children.len() < size {
                let mut parent = || {
                    let number = tournament(points, size, config.tournament_size, &mut rng);
                    self.population[number].clone()
                };
                let (mut one, mut two) = (parent(), parent());
                if rng.chance(config.crossover) {
                    crossover(&mut one, &mut two, &mut rng)?;
                }
                children.extend([one, two]);
            }
            children.truncate(size);
            self.population = children;
        }
        for network in &mut self.population {
            mutate_topology(network, config.topology_mutation, config.topology, &mut rng)?;
            mutate_weights(network, config.weight_mutation, config.weight_deviation, &mut rng);
        }
        Ok(())
    }
}

/// Reads a network of a checkpoint.
fn read_network(bytes: &[u8]) -> Result<NTupleNetwork, String> {
    match read_safetensors(bytes)?.0 {
        Model::NTuple(network) => Ok(Arc::unwrap_or_clone(network)),
        other => {
            Err(format!("it holds a model of kind '{}', not an n-tuple network", other.kind()))
        }
    }
}

impl Learner for Coevolution {
    type Model = NTupleNetwork;

    fn spent(&self) -> u64 {
        self.spent
    }

    fn next_cost(&self) -> u64 {
        self.config.generation_games(self.archive.len())
    }

    /// Runs one generation.
    fn step(&mut self) -> Result<(), StepError> {
        let games = self.next_cost();
        let trained = self.train()?;
        let (context, remote) = (self.context(), self.remote.as_ref());
        let points = evaluate(&self.config, &trained, &self.archive, context, remote)?;
        self.population = trained;
        self.best = match self.config.fitness {
            Fitness::None => None,
            _ => self.population.get(argmax(&points)).cloned(),
        };
        if self.config.uses_archive()
            && let Some(best) = self.best.as_ref().or(self.population.first())
        {
            self.archive.push(best.clone());
            let capacity = usize::try_from(self.config.archive_size).unwrap_or(usize::MAX);
            if capacity > 0 && self.archive.len() > capacity {
                self.archive.remove(0);
            }
        }
        self.vary(&points).map_err(|error| error.to_string())?;
        self.generation += 1;
        self.spent += games;
        Ok(())
    }

    /// Returns the best individual of the last generation. Without a fitness it is determined by a
    /// round robin, which is not part of the budget.
    fn model(&self) -> Result<NTupleNetwork, StepError> {
        Ok(match (&self.best, self.population.len()) {
            (Some(best), _) => best.clone(),
            (None, 1) => self.population[0].clone(),
            (None, _) => {
                self.population[round_robin_winner(&self.population, self.context())].clone()
            }
        })
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let header = CheckpointHeader {
            generation: self.generation,
            spent: self.spent,
            population: self.population.len(),
            archive: self.archive.len(),
            best: self.best.is_some(),
        };
        let mut sections = vec![serde_json::to_vec(&header).map_err(|error| error.to_string())?];
        for network in self.population.iter().chain(&self.archive).chain(&self.best) {
            sections.push(write_safetensors(&network.clone().into(), &Origin::default())?);
        }
        Ok(sections)
    }

    fn restore(&mut self, sections: &[Vec<u8>]) -> Result<(), String> {
        let (header, networks) = sections.split_first().ok_or("the checkpoint is empty")?;
        let header: CheckpointHeader =
            serde_json::from_slice(header).map_err(|error| error.to_string())?;
        let counts = [header.archive, usize::from(header.best)];
        let count = counts.into_iter().try_fold(header.population, usize::checked_add);
        if header.population != self.config.population || Some(networks.len()) != count {
            return Err("the checkpoint holds another population".to_owned());
        }
        let networks: Result<Vec<NTupleNetwork>, String> =
            networks.iter().map(|bytes| read_network(bytes)).collect();
        let mut networks = networks?.into_iter();
        self.population = networks.by_ref().take(header.population).collect();
        self.archive = networks.by_ref().take(header.archive).collect();
        self.best = networks.next();
        (self.generation, self.spent) = (header.generation, header.spent);
        Ok(())
    }
}

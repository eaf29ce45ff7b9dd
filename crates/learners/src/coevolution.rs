//! Coevolutionary gradient search (Krawiec and Szubert, 2011): a family of methods that combine
//! temporal difference learning, which moves weights along a gradient, with coevolution, which
//! selects and recombines whole networks.
//!
//! A generation has three phases, each of which the [`CoevolutionConfig`] may leave out:
//!
//! 1. every individual plays training games ([`crate::tdl`]) with itself, with others of the
//!    population, and with the archive of the best of earlier generations;
//! 2. individuals are judged, by games among themselves and with a hall of fame, or by games with
//!    a fixed player ([`fitness`]); the best joins the archive;
//! 3. parents are chosen by tournaments, and their children vary ([`variation`]).
//!
//! One individual that only trains is TDL; a population that only trains is PTDL; one that never
//! trains is CEL, with a hall of fame when it has an archive; one that does all is CTDL, and ETDL
//! when a fixed player judges.
//!
//! All opponents in training are as they were when the generation began, every training game has a
//! stream named by its learner and its number, and every other draw one named by the generation.
//! So a generation is the same on any number of threads, and a single individual learns the same
//! however its games are grouped into generations. Nor does it matter who plays: the games of a
//! generation may be those of workers on other machines ([`Coevolution::elsewhere`]).

mod check;
mod elsewhere;
pub mod fitness;
mod settings;
mod shape;
pub mod variation;

use crate::tdl::TdlConfig;
use crate::training::{Learner, StepError};
use elsewhere::{Elsewhere, Practice};
use fitness::{GenerationContext, appoint, fittest, judge};
use outflank_models::files::{Origin, read_safetensors, write_safetensors};
use outflank_models::{Model, NTupleNetwork, TupleError};
use outflank_runs::{WorkQueue, RngExt, parallel_in_order, rng};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use variation::{crossover, fresh, mutate_topology, mutate_weights, tournament};

pub use elsewhere::GenerationJobHandler;
pub use settings::{Fitness, KEYS, CoevolutionConfig, CoevolutionConfigError};
pub use shape::TupleShape;

/// Why a method of this family could not begin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoevolutionError {
    /// Its settings make no sense.
    #[error(transparent)]
    CoevolutionConfig(#[from] CoevolutionConfigError),
    /// Its tuples make no network.
    #[error(transparent)]
    Tuples(#[from] TupleError),
}

/// A population that learns.
#[derive(Clone, Debug)]
pub struct Coevolution {
    settings: CoevolutionConfig,
    seed: u64,
    threads: usize,
    generation: u64,
    spent: u64,
    population: Vec<NTupleNetwork>,
    archive: Vec<NTupleNetwork>,
    /// The best of the last generation, before its children were made.
    best: Option<NTupleNetwork>,
    /// Who plays the games, if others do.
    others: Option<Elsewhere>,
}

/// What a checkpoint says besides the networks.
#[derive(Serialize, Deserialize)]
struct Head {
    generation: u64,
    spent: u64,
    population: usize,
    archive: usize,
    best: bool,
}

impl Coevolution {
    /// A population that has not played yet.
    pub fn new(
        settings: CoevolutionConfig,
        seed: u64,
        threads: usize,
    ) -> Result<Coevolution, CoevolutionError> {
        settings.check()?;
        let population: Result<Vec<_>, _> = (0..settings.population)
            .map(|i| fresh(&settings, &mut rng::stream(seed, &["fresh", &i.to_string()])))
            .collect();
        Ok(Coevolution {
            population: population?,
            settings,
            seed,
            threads,
            generation: 0,
            spent: 0,
            archive: Vec::new(),
            best: None,
            others: None,
        })
    }

    /// Lets others play the games of every generation from now on.
    #[must_use]
    pub fn elsewhere(mut self, crew: Arc<dyn WorkQueue>) -> Coevolution {
        self.others = Some(Elsewhere { crew });
        self
    }

    /// Everyone there is.
    #[must_use]
    pub fn population(&self) -> &[NTupleNetwork] {
        &self.population
    }

    /// The best of earlier generations, the newest last.
    #[must_use]
    pub fn archive(&self) -> &[NTupleNetwork] {
        &self.archive
    }

    fn occasion(&self) -> GenerationContext {
        GenerationContext { seed: self.seed, generation: self.generation, threads: self.threads }
    }

    /// Phase 1: everyone plays its training games; gives what they have become.
    fn train(&self) -> Result<Vec<NTupleNetwork>, StepError> {
        let before = &self.population;
        let games = self.settings.training_games();
        if games == 0 {
            return Ok(before.clone());
        }
        let settings = &self.settings;
        let practices: Vec<Practice> = (0..before.len())
            .map(|individual| Practice {
                individual,
                first: self.generation * games,
                opponents: self.opponents(individual),
            })
            .collect();
        let rates = TdlConfig { learning_rate: settings.alpha, epsilon: settings.epsilon };
        let players: Vec<&NTupleNetwork> = before.iter().chain(&self.archive).collect();
        if let Some(others) = &self.others {
            return elsewhere::train(others, &players, &practices, rates, self.occasion());
        }
        let mut learned = Vec::with_capacity(before.len());
        parallel_in_order(
            before.len(),
            self.threads,
            || (),
            |(), individual| practices[individual].play(|number| players[number], rates, self.seed),
            |_, network| {
                learned.push(network);
                true
            },
        );
        Ok(learned)
    }

    /// Whom an individual trains with and how often, by numbers, the archive behind the population;
    /// `None` is itself.
    fn opponents(&self, individual: usize) -> Vec<(Option<usize>, u64)> {
        let settings = &self.settings;
        let path = ["opponents", &self.generation.to_string(), &individual.to_string()];
        let mut rng = rng::stream(self.seed, &path);
        let mut opponents = vec![(None, settings.self_games)];
        if settings.population_games > 0 {
            let mut others: Vec<usize> =
                (0..self.population.len()).filter(|&other| other != individual).collect();
            rng.shuffle(&mut others);
            let drawn = others.iter().take(settings.population_opponents);
            opponents.extend(drawn.map(|&other| (Some(other), settings.population_games)));
        }
        let newest = self.archive.len().saturating_sub(1);
        for number in 0..settings.archive_opponents {
            let member = match settings.archive_newest {
                // While the archive is young its oldest member stands in for those to come.
                true => newest.saturating_sub(number),
                false => rng.below(self.archive.len() as u32) as usize,
            };
            // While there is no archive it plays with itself.
            let known = member < self.archive.len();
            let member = known.then_some(self.population.len() + member);
            opponents.push((member, settings.archive_games));
        }
        opponents
    }

    /// Phase 3: the next generation.
    fn vary(&mut self, points: &[u64]) -> Result<(), TupleError> {
        let settings = &self.settings;
        let mut rng = rng::stream(self.seed, &["variation", &self.generation.to_string()]);
        let size = self.population.len();
        if settings.tournament > 0 {
            let mut children: Vec<NTupleNetwork> = Vec::with_capacity(size + 1);
            while children.len() < size {
                let mut parent = || {
                    let number = tournament(points, size, settings.tournament, &mut rng);
                    self.population[number].clone()
                };
                let (mut one, mut two) = (parent(), parent());
                if rng.chance(settings.crossover) {
                    crossover(&mut one, &mut two, &mut rng)?;
                }
                children.extend([one, two]);
            }
            children.truncate(size);
            self.population = children;
        }
        for network in &mut self.population {
            mutate_topology(network, settings.topology_mutation, settings.topology, &mut rng)?;
            mutate_weights(network, settings.weight_mutation, settings.weight_deviation, &mut rng);
        }
        Ok(())
    }
}

/// A network of a checkpoint.
fn read_network(bytes: &[u8]) -> Result<NTupleNetwork, String> {
    match read_safetensors(bytes)?.0 {
        Model::NTuple(network) => Ok(Arc::unwrap_or_clone(network)),
        other => Err(format!("it holds a model of kind '{}'", other.kind())),
    }
}

impl Learner for Coevolution {
    type Model = NTupleNetwork;

    fn spent(&self) -> u64 {
        self.spent
    }

    fn next_cost(&self) -> u64 {
        self.settings.generation_games(self.archive.len())
    }

    /// A generation.
    fn step(&mut self) -> Result<(), StepError> {
        let games = self.next_cost();
        let trained = self.train()?;
        let (occasion, others) = (self.occasion(), self.others.as_ref());
        let points = judge(&self.settings, &trained, &self.archive, occasion, others)?;
        self.population = trained;
        self.best = match self.settings.fitness {
            Fitness::None => None,
            _ => self.population.get(fittest(&points)).cloned(),
        };
        if self.settings.uses_archive()
            && let Some(best) = self.best.as_ref().or(self.population.first())
        {
            self.archive.push(best.clone());
            let most = usize::try_from(self.settings.archive).unwrap_or(usize::MAX);
            if most > 0 && self.archive.len() > most {
                self.archive.remove(0);
            }
        }
        self.vary(&points).map_err(|error| error.to_string())?;
        self.generation += 1;
        self.spent += games;
        Ok(())
    }

    /// The best of the last generation. Where nobody is judged the best is appointed by a round
    /// robin, which costs the budget nothing and changes nobody.
    fn model(&self) -> NTupleNetwork {
        match (&self.best, self.population.len()) {
            (Some(best), _) => best.clone(),
            (None, 1) => self.population[0].clone(),
            (None, _) => self.population[appoint(&self.population, self.occasion())].clone(),
        }
    }

    fn state(&self) -> Result<Vec<Vec<u8>>, String> {
        let head = Head {
            generation: self.generation,
            spent: self.spent,
            population: self.population.len(),
            archive: self.archive.len(),
            best: self.best.is_some(),
        };
        let mut parts = vec![serde_json::to_vec(&head).map_err(|error| error.to_string())?];
        for network in self.population.iter().chain(&self.archive).chain(&self.best) {
            parts.push(write_safetensors(&network.clone().into(), &Origin::default())?);
        }
        Ok(parts)
    }

    fn restore(&mut self, parts: &[Vec<u8>]) -> Result<(), String> {
        let (head, networks) = parts.split_first().ok_or("it is empty")?;
        let head: Head = serde_json::from_slice(head).map_err(|error| error.to_string())?;
        let count = head.population + head.archive + usize::from(head.best);
        if head.population != self.settings.population || networks.len() != count {
            return Err("it holds another population".to_owned());
        }
        let networks: Result<Vec<NTupleNetwork>, String> =
            networks.iter().map(|bytes| read_network(bytes)).collect();
        let mut networks = networks?.into_iter();
        self.population = networks.by_ref().take(head.population).collect();
        self.archive = networks.by_ref().take(head.archive).collect();
        self.best = networks.next();
        (self.generation, self.spent) = (head.generation, head.spent);
        Ok(())
    }
}

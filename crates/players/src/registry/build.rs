//! Player factories from specifications.

use super::{PlayerModel, RegisteredGame, RegistryError, find_model};
use crate::spec::{PlayerSpec, SearchSpec};
use crate::{
    AlphaBeta, EngineCommand, EngineOptions, Greedy, IterativeDeepening, Mcts, PlayerFactory,
    PlySwitch, ProbCut, Random, RandomMoves, SearchPlayer,
};
use outflank_models::{Evaluate, Policy};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of empty squares at which a search without a fixed depth solves the game.
pub(super) const MAX_SOLVED_EMPTIES: u32 = 22;

/// Base-2 logarithm of the transposition table size of a search with limits.
const TABLE_BITS: u32 = 19;

/// Maximum number of searching players that play at the same time on one thread.
pub(super) const MAX_SEARCHES: usize = 16;

/// Maximum number of external engines that run at the same time on one thread.
const MAX_ENGINES: usize = 2;

/// Creates a player factory from a textual specification.
pub fn factory<P: RegisteredGame>(text: &str) -> Result<PlayerFactory<P>, RegistryError> {
    let spec: PlayerSpec = text.parse()?;
    factory_from_spec(&spec)
}

/// Creates a player factory from a parsed specification.
pub fn factory_from_spec<P: RegisteredGame>(
    spec: &PlayerSpec,
) -> Result<PlayerFactory<P>, RegistryError> {
    let mut factory = base_factory(spec)?;
    if let Some(switch) = spec.ply_switch.clone() {
        let other = factory_from_spec::<P>(&switch.player)?;
        let inner = factory.clone();
        factory = inner.clone().combined_with(&other.clone(), move || {
            let plies = switch.first_ply..=switch.last_ply;
            Ok(Box::new(PlySwitch::new(inner.make()?, other.make()?, plies)))
        });
    }
    Ok(with_random_moves(factory, spec.random))
}

/// Creates the factories of the players of a contest.
///
/// Starts each player once to detect errors early, and requires unique names. `random` is the
/// probability of a random move on each turn, for all players.
pub fn factories<P: RegisteredGame>(
    texts: &[String],
    random: f64,
) -> Result<Vec<PlayerFactory<P>>, RegistryError> {
    let specs = texts.iter().map(|text| text.parse()).collect::<Result<Vec<PlayerSpec>, _>>()?;
    factories_from_specs(&specs, random)
}

/// Like [`factories`], from parsed specifications.
pub fn factories_from_specs<P: RegisteredGame>(
    specs: &[PlayerSpec],
    random: f64,
) -> Result<Vec<PlayerFactory<P>>, RegistryError> {
    let mut factories: Vec<PlayerFactory<P>> = Vec::with_capacity(specs.len());
    for spec in specs {
        let factory = factory_from_spec::<P>(spec)?;
        if factories.iter().any(|other| other.name == factory.name) {
            return Err(RegistryError::DuplicateName(factory.name));
        }
        factory.make()?.new_game()?;
        factories.push(with_random_moves(factory, random));
    }
    Ok(factories)
}

/// Creates a factory of greedy players of a policy, which play a random move with probability
/// `random`.
pub fn policy_factory<P: RegisteredGame>(
    name: &str,
    policy: Arc<dyn Policy<P>>,
    random: f64,
) -> PlayerFactory<P> {
    let batch_size = policy.batch_size();
    let factory = PlayerFactory::new(name, move || Ok(Box::new(Greedy::new(policy.clone()))));
    with_random_moves(factory.with_batch_size(batch_size), random)
}

fn with_random_moves<P: RegisteredGame>(
    factory: PlayerFactory<P>,
    random: f64,
) -> PlayerFactory<P> {
    if random > 0.0 {
        factory.map_player(move |inner| Box::new(RandomMoves::new(inner, random)))
    } else {
        factory
    }
}

/// Creates the factory without the keys `plies`, `with` and `random`.
fn base_factory<P: RegisteredGame>(spec: &PlayerSpec) -> Result<PlayerFactory<P>, RegistryError> {
    if spec.is_engine() {
        return engine_factory(spec);
    }
    if matches!(spec.search, SearchSpec::Selective { .. }) {
        return P::selective_factory(spec);
    }
    let model: PlayerModel<P> = find_model(spec)?;
    if spec.deepens_iteratively() {
        return match model {
            PlayerModel::Value(value) => Ok(search_factory(spec, value)),
            _ => Err(invalid(
                spec,
                "seconds, nodes, cut and threads need a model that evaluates positions; remove them",
            )),
        };
    }
    match spec.search {
        SearchSpec::Default => default_factory(spec, model),
        SearchSpec::Depth { plies, exact_from } => {
            alpha_beta_factory(spec, model, plies, exact_from)
        }
        SearchSpec::Selective { .. } => P::selective_factory(spec),
        SearchSpec::Mcts(_) if spec.noise > 0.0 => {
            Err(invalid(spec, "Monte-Carlo tree search has no noise; remove noise"))
        }
        SearchSpec::Mcts(simulations) => {
            let policy = model.policy();
            Ok(PlayerFactory::new(spec.label(), move || {
                Ok(Box::new(match &policy {
                    Some(policy) => Mcts::new(simulations).with_rollout_policy(policy.clone()),
                    None => Mcts::new(simulations),
                }))
            })
            .with_max_instances(MAX_SEARCHES))
        }
    }
}

pub(super) fn invalid(spec: &PlayerSpec, reason: &str) -> RegistryError {
    RegistryError::InvalidCombination { text: spec.text.clone(), reason: reason.to_owned() }
}

fn engine_factory<P: RegisteredGame>(spec: &PlayerSpec) -> Result<PlayerFactory<P>, RegistryError> {
    let command: EngineCommand =
        spec.model.parse().map_err(|error| invalid(spec, &format!("{error}")))?;
    let label = spec.label();
    let default = EngineOptions::default();
    let options = EngineOptions {
        timeout: spec.seconds.map_or(default.timeout, Duration::from_secs_f64),
        start_timeout: spec.start_timeout.map_or(default.start_timeout, Duration::from_secs_f64),
        level: spec.level,
        name: Some(label.clone()),
        ..default
    };
    let factory = PlayerFactory::new(label, move || P::engine(&command, options.clone()));
    Ok(factory.with_max_instances(MAX_ENGINES))
}

/// Creates players without `@SEARCH`: one ply of search for a value function, none for a policy.
fn default_factory<P: RegisteredGame>(
    spec: &PlayerSpec,
    model: PlayerModel<P>,
) -> Result<PlayerFactory<P>, RegistryError> {
    let label = spec.label();
    let noise = spec.noise as f32;
    match model {
        PlayerModel::Uniform if noise > 0.0 => {
            Err(invalid(spec, "a random player has no leaves to add noise to; remove noise"))
        }
        PlayerModel::Uniform => Ok(PlayerFactory::new(label, || Ok(Box::new(Random)))),
        PlayerModel::Value(value) if noise > 0.0 => Ok(PlayerFactory::new(label, move || {
            Ok(Box::new(AlphaBeta::new(value.clone(), 1).with_noise(noise)))
        })),
        PlayerModel::Policy(_) if noise > 0.0 => {
            Err(invalid(spec, "a policy has no leaves to add noise to; remove noise"))
        }
        model => {
            let policy = model
                .policy()
                .ok_or_else(|| invalid(spec, "its model has no policy; choose another model"))?;
            Ok(policy_factory(&label, policy, 0.0))
        }
    }
}

/// Creates players with alpha-beta search to a fixed depth.
fn alpha_beta_factory<P: RegisteredGame>(
    spec: &PlayerSpec,
    model: PlayerModel<P>,
    plies: u32,
    exact_from: Option<u32>,
) -> Result<PlayerFactory<P>, RegistryError> {
    let value = match model {
        PlayerModel::Uniform => {
            return Err(invalid(
                spec,
                "a random player has no evaluation to search with; use random@mcts500 or another \
                 model",
            ));
        }
        PlayerModel::Policy(_) => {
            return Err(invalid(
                spec,
                "a policy cannot evaluate positions, so it cannot search by depth; use it without \
                 a search, or with @mcts100",
            ));
        }
        PlayerModel::Value(value) => value,
    };
    if exact_from.is_some_and(|empties| P::endgame_solver(empties).is_none()) {
        let reason = format!("there is no exact endgame solver for {}; use @{plies}", P::GAME);
        return Err(invalid(spec, &reason));
    }
    let noise = spec.noise as f32;
    Ok(PlayerFactory::new(spec.label(), move || {
        let mut player = AlphaBeta::new(value.clone(), plies).with_noise(noise);
        if let Some(endgame) = exact_from.and_then(P::endgame_solver) {
            player = player.with_endgame(endgame);
        }
        Ok(Box::new(player))
    })
    .with_max_instances(MAX_SEARCHES))
}

/// Creates players with iterative deepening. The ProbCut parameters of the model are measured once.
fn search_factory<P: RegisteredGame>(
    spec: &PlayerSpec,
    value: Arc<dyn Evaluate<P>>,
) -> PlayerFactory<P> {
    let (plies, exact_from) = match spec.search {
        SearchSpec::Depth { plies, exact_from } => (plies, exact_from),
        // Only the time or node limit ends the search.
        _ => (u32::MAX, Some(MAX_SOLVED_EMPTIES)),
    };
    let threads = spec.threads.unwrap_or(1) as usize;
    let probcut = spec
        .probcut_threshold()
        .map(|threshold| Arc::new(ProbCut::measure(&value, threshold as f32)));
    let time = spec.seconds.map(Duration::from_secs_f64);
    let (nodes, clock) = (spec.nodes, spec.clock);
    PlayerFactory::new(spec.label(), move || {
        let mut search = IterativeDeepening::new(value.clone(), TABLE_BITS)
            .with_max_depth(plies)
            .with_threads(threads)
            .with_probcut(probcut.clone());
        if let Some(endgame) = exact_from.and_then(|e| P::parallel_endgame_solver(e, threads)) {
            search = search.with_endgame(endgame);
        }
        Ok(Box::new(SearchPlayer::new(search, time, nodes).with_clock(clock)))
    })
    .with_max_instances(MAX_SEARCHES)
}

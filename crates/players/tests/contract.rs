//! What every player of every game owes its callers.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position, Side};
use outflank_models::{self as models, Evaluate};
use outflank_players::{
    AlphaBeta, PlayerError, ForcedRandom, Greedy, Mcts, Player, Random, Searchable, Staged, registry,
};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// An opinion about every position that follows from nothing but its hash, coarse enough for ties.
struct Whim;

impl<P: Position> Evaluate<P> for Whim {
    fn value(&self, position: &P, side: Side) -> f32 {
        let mut hasher = DefaultHasher::new();
        (position, side).hash(&mut hasher);
        (hasher.finish() % 9) as f32 - 4.0
    }
}

/// A model with nothing sensible to say.
struct Nonsense;

impl<P: Position> Evaluate<P> for Nonsense {
    fn value(&self, position: &P, _: Side) -> f32 {
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0][position.pieces() as usize % 4]
    }
}

type Maker<P> = (&'static str, fn() -> Box<dyn Player<P>>);

fn policy<P: Position>() -> Arc<dyn models::Policy<P>> {
    Arc::new(models::Greedy(Whim))
}

/// Every player that knows how to play any game.
fn players<P: Searchable>() -> Vec<Maker<P>> {
    vec![
        ("random", || Box::new(Random)),
        ("greedy", || Box::new(Greedy::new(policy()))),
        ("greedy on nonsense", || Box::new(Greedy::new(Arc::new(models::Greedy(Nonsense))))),
        ("alpha-beta 1", || Box::new(AlphaBeta::new(Arc::new(Whim), 1))),
        ("alpha-beta 3", || Box::new(AlphaBeta::new(Arc::new(Whim), 3))),
        ("alpha-beta on nonsense", || Box::new(AlphaBeta::new(Arc::new(Nonsense), 2))),
        ("noisy alpha-beta", || Box::new(AlphaBeta::new(Arc::new(Whim), 2).with_noise(5.0))),
        ("mcts", || Box::new(Mcts::new(30))),
        ("guided mcts", || Box::new(Mcts::new(10).with_guide(policy()))),
        ("forced random", || Box::new(ForcedRandom::new(Greedy::new(policy()), 0.3))),
        ("staged", || {
            let boxed: Box<dyn Player<P>> = Box::new(Random);
            Box::new(Staged::new(boxed, AlphaBeta::new(Arc::new(Whim), 2), 10, 20))
        }),
    ]
}

/// One game of a player against itself, with everything random coming from the seed.
fn game<P: Position>(name: &str, player: &mut dyn Player<P>, seed: u64) -> Line<P> {
    let mut rng: Rng = stream(seed, &["contract"]);
    let mut line: Line<P> = Line::default();
    player.new_game().expect("these players always begin");
    while !line.position().is_over() {
        let mv = player.choose(&line, &mut rng).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        line.push(mv).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(line.moves().len() < 3000, "{name} never ends");
    }
    line
}

fn keeps_the_contract<P: Position>((name, make): Maker<P>) {
    let first = game(name, &mut *make(), 1);

    // The same seed gives the same game, whatever the player did before.
    assert_eq!(game(name, &mut *make(), 1), first, "{name} is not determined by its seed");
    let mut veteran = make();
    game(name, &mut *veteran, 2);
    assert_eq!(game(name, &mut *veteran, 1), first, "{name} remembers an earlier game");

    // A player may be called into the middle of a game.
    let mut late = Line::new(*first.start());
    let half = first.moves().len() / 2;
    for &mv in &first.moves()[..half] {
        late.push(mv).expect("played before");
    }
    let mut rng = stream(3, &["contract"]);
    let mv = make().choose(&late, &mut rng).expect("the game goes on");
    assert!(late.position().is_legal(mv), "{name}");

    // Asked after the end, it says so.
    let refused = make().choose(&first, &mut rng);
    assert!(matches!(refused, Err(PlayerError::Refused { .. })), "{name}: {refused:?}");
}

#[test]
fn all_players_keep_the_contract_in_othello() {
    players::<Othello>().into_iter().for_each(keeps_the_contract);
    keeps_the_contract::<Othello>(("exact endgame", || {
        let endgame = Othello::endgame_solver(8).expect("Othello has a solver");
        Box::new(AlphaBeta::new(Arc::new(Whim), 2).with_endgame(endgame))
    }));
}

#[test]
fn all_players_keep_the_contract_in_checkers() {
    assert!(Checkers::endgame_solver(8).is_none());
    players::<Checkers>().into_iter().for_each(keeps_the_contract);
}

/// Plays the first legal move, always.
struct First;

impl<P: Position> Player<P> for First {
    fn choose(&mut self, game: &Line<P>, _: &mut Rng) -> Result<P::Move, PlayerError> {
        Ok(game.position().moves().next().expect("the game goes on"))
    }
}

/// Plays the last legal move, always.
struct Last;

impl<P: Position> Player<P> for Last {
    fn choose(&mut self, game: &Line<P>, _: &mut Rng) -> Result<P::Move, PlayerError> {
        Ok(game.position().moves().last().expect("the game goes on"))
    }
}

#[test]
fn forced_random_moves_come_at_their_rate_and_are_uniform() {
    let mut rng = stream(11, &["epsilon"]);
    let mut player: Box<dyn Player<Othello>> = Box::new(ForcedRandom::new(First, 0.1));
    let (mut turns, mut random) = (0u32, 0u32);
    // At the start there are four moves.
    let mut at_start = [0u32; 4];
    while turns < 60_000 {
        let mut line: Line<Othello> = Line::default();
        player.new_game().unwrap();
        assert!(!player.last_was_random());
        while !line.position().is_over() {
            let mv = player.choose(&line, &mut rng).unwrap();
            turns += 1;
            if player.last_was_random() {
                random += 1;
            } else {
                assert_eq!(Some(mv), line.position().moves().next());
            }
            line.push(mv).unwrap();
        }
    }
    while at_start.iter().sum::<u32>() < 4_000 {
        let line = Line::default();
        let mv = player.choose(&line, &mut rng).unwrap();
        if player.last_was_random() {
            let at = line.position().moves().position(|legal| legal == mv).unwrap();
            at_start[at] += 1;
        }
    }
    let (n, hits) = (f64::from(turns), f64::from(random));
    assert!((hits - 0.1 * n).abs() < 4.0 * (n * 0.1 * 0.9).sqrt(), "{random} of {turns}");
    // Chi-square with three degrees of freedom: above 16.3 once in a thousand seeds.
    let total = f64::from(at_start.iter().sum::<u32>());
    let square = |&count: &u32| (f64::from(count) - total / 4.0).powi(2) / (total / 4.0);
    assert!(at_start.iter().map(square).sum::<f64>() < 16.3, "{at_start:?}");
}

#[test]
fn a_probability_of_zero_draws_nothing_and_of_one_is_always_random() {
    let line: Line<Othello> = Line::default();
    let (mut used, untouched) = (stream(12, &["epsilon"]), stream(12, &["epsilon"]));
    let mut never = ForcedRandom::new(First, 0.0);
    Player::<Othello>::choose(&mut never, &line, &mut used).unwrap();
    assert_eq!(used, untouched);
    let mut always = ForcedRandom::new(First, 1.0);
    for _ in 0..100 {
        Player::<Othello>::choose(&mut always, &line, &mut used).unwrap();
        assert!(Player::<Othello>::last_was_random(&always));
    }
}

#[test]
fn a_stage_is_counted_in_discs_in_othello_and_in_plies_in_checkers() {
    fn check<P: Position>(seed: u64, number: impl Fn(&Line<P>) -> u32) {
        let mut rng = stream(seed, &["stage"]);
        let mut player: Box<dyn Player<P>> =
            Box::new(Staged::new(First, ForcedRandom::new(Last, 1.0), 46, 60));
        let mut line: Line<P> = Line::default();
        let mut handed = 0;
        while !line.position().is_over() && line.moves().len() < 100 {
            let mv = player.choose(&line, &mut rng).unwrap();
            let others = (46..=60).contains(&number(&line));
            // The other player's moves are the ones that say they were random.
            assert_eq!(player.last_was_random(), others);
            if !others {
                assert_eq!(line.position().moves().next(), Some(mv));
                // The choice of the staged player would soon repeat itself.
                let mv = Random.choose(&line, &mut rng).unwrap();
                line.push(mv).unwrap();
            } else {
                handed += 1;
                line.push(mv).unwrap();
            }
        }
        if line.moves().len() >= 60 {
            assert_eq!(handed, 15);
        }
    }
    for seed in 0..20 {
        check::<Othello>(seed, |line| line.position().pieces() + 1 - 4);
        check::<Checkers>(seed, |line| line.moves().len() as u32 + 1);
    }
}

/// A heuristic file plays its own game from its path, and a run folder's heuristic from the folder.
#[test]
fn heuristics_are_players_of_their_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    let weights = [0.5, 1.0, 0.1, 0.1, 0.05, 0.2];
    let heuristic = models::Heuristic::<Checkers>::new(&weights).unwrap();
    models::files::save_heuristic(&path, &heuristic.into(), &Default::default()).unwrap();
    for text in [path.display().to_string(), format!("{}@4", folder.path().display())] {
        let mut player = registry::factory::<Checkers>(&text).unwrap().make().unwrap();
        player.choose(&Line::default(), &mut stream(1, &["file"])).unwrap();
        let refused = registry::factory::<Othello>(&text).unwrap_err().to_string();
        assert!(refused.contains("plays checkers, not othello"), "{refused}");
    }
    let viewed = format!("{}?view=invert", path.display());
    let refused = registry::factory::<Checkers>(&viewed).unwrap_err().to_string();
    assert!(refused.contains("its view is part of it"), "{refused}");
}

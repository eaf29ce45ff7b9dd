//! The contract of the `Player` trait, tested for all players and games.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Line, Position, Side};
use outflank_models::{self as models, Evaluate};
use outflank_players::contract::check_player;
use outflank_players::{
    AlphaBeta, Greedy, Mcts, Player, PlayerError, PlySwitch, Random, RandomMoves, Searchable,
    registry,
};
use outflank_runs::Rng;
use outflank_runs::rng::stream;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A hash-based evaluation, coarse enough for ties.
struct HashEval;

impl<P: Position> Evaluate<P> for HashEval {
    fn value(&self, position: &P, side: Side) -> f32 {
        let mut hasher = DefaultHasher::new();
        (position, side).hash(&mut hasher);
        (hasher.finish() % 9) as f32 - 4.0
    }
}

/// A model that returns NaN and infinities.
struct NonFiniteEval;

impl<P: Position> Evaluate<P> for NonFiniteEval {
    fn value(&self, position: &P, _: Side) -> f32 {
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0][position.pieces() as usize % 4]
    }
}

/// The name of a player and its constructor.
type NamedConstructor<P> = (&'static str, fn() -> Box<dyn Player<P>>);

fn policy<P: Position>() -> Arc<dyn models::Policy<P>> {
    Arc::new(models::OnePlyPolicy(HashEval))
}

/// All players that are generic over the game.
fn generic_players<P: Searchable>() -> Vec<NamedConstructor<P>> {
    vec![
        ("random", || Box::new(Random)),
        ("greedy", || Box::new(Greedy::new(policy()))),
        ("greedy, non-finite", || {
            Box::new(Greedy::new(Arc::new(models::OnePlyPolicy(NonFiniteEval))))
        }),
        ("alpha-beta 1", || Box::new(AlphaBeta::new(Arc::new(HashEval), 1))),
        ("alpha-beta 3", || Box::new(AlphaBeta::new(Arc::new(HashEval), 3))),
        ("alpha-beta, non-finite", || Box::new(AlphaBeta::new(Arc::new(NonFiniteEval), 2))),
        ("noisy alpha-beta", || Box::new(AlphaBeta::new(Arc::new(HashEval), 2).with_noise(5.0))),
        ("mcts", || Box::new(Mcts::new(30))),
        ("mcts with rollout policy", || Box::new(Mcts::new(10).with_rollout_policy(policy()))),
        ("random moves", || Box::new(RandomMoves::new(Greedy::new(policy()), 0.3))),
        ("ply switch", || {
            let boxed: Box<dyn Player<P>> = Box::new(Random);
            Box::new(PlySwitch::new(boxed, AlphaBeta::new(Arc::new(HashEval), 2), 10..=20))
        }),
    ]
}

fn check<P: Position>((name, make): NamedConstructor<P>) {
    check_player(name, make);
}

#[test]
fn othello_players_fulfill_the_contract() {
    generic_players::<Othello>().into_iter().for_each(check);
    check_player::<Othello>("exact endgame", || {
        let endgame = Othello::endgame_solver(8).expect("Othello has a solver");
        Box::new(AlphaBeta::new(Arc::new(HashEval), 2).with_endgame(endgame))
    });
}

#[test]
fn checkers_players_fulfill_the_contract() {
    assert!(Checkers::endgame_solver(8).is_none());
    generic_players::<Checkers>().into_iter().for_each(check);
}

#[test]
fn othello6_players_fulfill_the_contract() {
    generic_players::<Othello6>().into_iter().for_each(check);
    for name in ["random", "corners", "corners@3", "random@mcts20"] {
        let factory = registry::factory::<Othello6>(name).unwrap();
        check_player::<Othello6>(name, || factory.make().unwrap());
    }
}

/// Plays the first legal move.
struct First;

impl<P: Position> Player<P> for First {
    fn choose(&mut self, game: &Line<P>, _: &mut Rng) -> Result<P::Move, PlayerError> {
        Ok(game.position().moves().next().expect("the game is not over"))
    }
}

/// Plays the last legal move.
struct Last;

impl<P: Position> Player<P> for Last {
    fn choose(&mut self, game: &Line<P>, _: &mut Rng) -> Result<P::Move, PlayerError> {
        Ok(game.position().moves().last().expect("the game is not over"))
    }
}

#[test]
fn random_moves_have_the_given_probability_and_are_uniform() {
    let mut rng = stream(11, &["epsilon"]);
    let mut player: Box<dyn Player<Othello>> = Box::new(RandomMoves::new(First, 0.1));
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
            let index = line.position().moves().position(|legal| legal == mv).unwrap();
            at_start[index] += 1;
        }
    }
    let (n, hits) = (f64::from(turns), f64::from(random));
    assert!((hits - 0.1 * n).abs() < 4.0 * (n * 0.1 * 0.9).sqrt(), "{random} of {turns}");
    // 16.3 is the 99.9% quantile of the chi-square distribution with three degrees of freedom.
    let total = f64::from(at_start.iter().sum::<u32>());
    let square = |&count: &u32| (f64::from(count) - total / 4.0).powi(2) / (total / 4.0);
    assert!(at_start.iter().map(square).sum::<f64>() < 16.3, "{at_start:?}");
}

#[test]
fn random_moves_with_probability_zero_and_one() {
    let line: Line<Othello> = Line::default();
    let (mut used, untouched) = (stream(12, &["epsilon"]), stream(12, &["epsilon"]));
    let mut never = RandomMoves::new(First, 0.0);
    Player::<Othello>::choose(&mut never, &line, &mut used).unwrap();
    assert_eq!(used, untouched);
    let mut always = RandomMoves::new(First, 1.0);
    for _ in 0..100 {
        Player::<Othello>::choose(&mut always, &line, &mut used).unwrap();
        assert!(Player::<Othello>::last_was_random(&always));
    }
}

#[test]
fn ply_ranges_count_discs_in_othello_and_moves_in_checkers() {
    fn check<P: Position>(seed: u64, next_ply: impl Fn(&Line<P>) -> u32) {
        let mut rng = stream(seed, &["stage"]);
        let mut player: Box<dyn Player<P>> =
            Box::new(PlySwitch::new(First, RandomMoves::new(Last, 1.0), 46..=60));
        let mut line: Line<P> = Line::default();
        let mut delegated = 0;
        while !line.position().is_over() && line.moves().len() < 100 {
            let mv = player.choose(&line, &mut rng).unwrap();
            let is_delegated = (46..=60).contains(&next_ply(&line));
            // Only the other player reports random moves.
            assert_eq!(player.last_was_random(), is_delegated);
            if !is_delegated {
                assert_eq!(line.position().moves().next(), Some(mv));
                // A random move avoids repetition.
                let mv = Random.choose(&line, &mut rng).unwrap();
                line.push(mv).unwrap();
            } else {
                delegated += 1;
                line.push(mv).unwrap();
            }
        }
        if line.moves().len() >= 60 {
            assert_eq!(delegated, 15);
        }
    }
    for seed in 0..20 {
        check::<Othello>(seed, |line| line.position().pieces() + 1 - 4);
        check::<Checkers>(seed, |line| line.moves().len() as u32 + 1);
    }
}

#[test]
fn heuristic_files_and_run_folders_are_players_of_their_game() {
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
    assert!(refused.contains("only the view of an n-tuple network"), "{refused}");
}

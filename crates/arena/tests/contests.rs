//! Contests: reproducibility, resume, forfeits and published results.

use outflank_arena::league::play_league;
use outflank_arena::matches::{MatchReport, play_match};
use outflank_arena::ratings::RatingConfig;
use outflank_arena::{
    ContestConfig, ContestEvent, ContestGame, EarlyEndReason, distinct_games, play_contest,
    play_game,
};
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_models::{Evaluate, Policy, embedded};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{Player, PlayerError, PlayerFactory, PlySwitch};
use outflank_records::read_openings;
use outflank_runs::{Journal, Rng, RngExt, rng};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn factories<P: RegisteredGame>(players: &[&str], random: f64) -> Vec<PlayerFactory<P>> {
    let texts: Vec<String> = players.iter().map(|&text| text.to_owned()).collect();
    registry::factories(&texts, random).unwrap()
}

fn two_factories<P: RegisteredGame>(a: &str, b: &str, random: f64) -> [PlayerFactory<P>; 2] {
    factories(&[a, b], random).try_into().unwrap()
}

/// Returns `count` openings of `plies` random moves.
fn random_openings<P: Position>(count: usize, plies: usize) -> Vec<Line<P>> {
    let mut rng = rng::stream(5, &["openings"]);
    (0..count)
        .map(|_| {
            let mut line = Line::<P>::default();
            for _ in 0..plies {
                let moves: Vec<_> = line.position().moves().collect();
                line.push(*rng.pick(&moves).unwrap()).unwrap();
            }
            line
        })
        .collect()
}

/// A contest of this many rounds over 50 openings of four plies.
fn contest_config<P: Position>(rounds: u32, threads: usize) -> ContestConfig<P> {
    ContestConfig { openings: random_openings(50, 4), rounds, seed: 7, threads, remote: None }
}

/// Plays a match without a journal and returns its report and games.
fn play_new_match<P: RegisteredGame>(
    pair: &[PlayerFactory<P>; 2],
    config: &ContestConfig<P>,
) -> (MatchReport, Vec<ContestGame<P>>) {
    play_match(pair, config, None, None, |_, _| true).unwrap()
}

#[test]
fn a_callback_can_stop_a_match() {
    let pair = two_factories::<Othello>("heuristic", "random", 0.1);
    let config = contest_config(100, 1);
    let mut calls = 0;
    let (report, games) = play_match(&pair, &config, None, None, |_, _| {
        calls += 1;
        calls < 2
    })
    .unwrap();
    assert!(!report.complete);
    assert_eq!((calls, report.games), (2, games.len() as u64));
    assert!(games.len() < 200);
}

#[test]
fn games_do_not_depend_on_the_number_of_threads() {
    let pair = two_factories::<Othello>("heuristic", "yoshioka@2", 0.1);
    let one = play_new_match(&pair, &contest_config(40, 1));
    for threads in [2, 3, 8] {
        assert_eq!(play_new_match(&pair, &contest_config(40, threads)), one);
    }
}

/// The policy of the player `heuristic`, which records the size of the largest batch that it
/// evaluates.
struct BatchRecorder {
    batch_size: usize,
    largest: std::sync::atomic::AtomicUsize,
}

impl Policy<Othello> for BatchRecorder {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        embedded::heuristic().move_values(position, moves, out);
    }

    fn score_batch(&self, positions: &[(Othello, Vec<Square>)]) -> Vec<Vec<f32>> {
        self.largest.fetch_max(positions.len(), std::sync::atomic::Ordering::Relaxed);
        let scores = |(position, moves): &(Othello, Vec<Square>)| {
            let mut out = Vec::new();
            self.score(position, moves, &mut out);
            out
        };
        positions.iter().map(scores).collect()
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }
}

/// Lockstep play yields the same games as sequential play: with random moves, with a ply switch
/// played by a search, and in self-play.
#[test]
fn lockstep_play_equals_sequential_play() {
    let play = |batch_size: usize, threads: usize| {
        let recorder = Arc::new(BatchRecorder { batch_size, largest: 0.into() });
        let factory =
            |name: &str, random: f64| registry::policy_factory(name, recorder.clone() as _, random);
        let (policy, search) =
            (factory("switching", 0.0), registry::factory::<Othello>("yoshioka@2e6").unwrap());
        let switching = policy.clone().combined_with(&search.clone(), move || {
            Ok(Box::new(PlySwitch::new(policy.make()?, search.make()?, 10..=20)))
        });
        let mut players = factories::<Othello>(&["yoshioka", "yoshioka@2"], 0.1);
        players.extend([factory("policy", 0.0), factory("with random moves", 0.2), switching]);
        let pairs: Vec<_> = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).collect();
        let mut games = Vec::new();
        let not_stopped =
            play_contest(&players, &pairs, &contest_config(40, threads), None, |event| {
                let ContestEvent::Games(batch, _) = event else { return true };
                games.extend(batch);
                true
            });
        assert!(not_stopped.unwrap());
        (games, recorder.largest.load(std::sync::atomic::Ordering::Relaxed))
    };
    let (sequential, largest) = play(1, 2);
    assert_eq!((sequential.len(), largest), (800, 0));
    for threads in [1, 3] {
        let (lockstep, largest) = play(32, threads);
        assert!(lockstep == sequential);
        assert_eq!(largest, 32);
    }
}

#[test]
fn swapping_the_players_swaps_wins_and_losses() {
    let config = contest_config::<Othello>(60, 2);
    let (report, _) = play_new_match(&two_factories("heuristic", "yoshioka", 0.1), &config);
    let (swapped, _) = play_new_match(&two_factories("yoshioka", "heuristic", 0.1), &config);
    assert_eq!(
        (report.wins, report.draws, report.losses),
        (swapped.losses, swapped.draws, swapped.wins)
    );
    let mut reversed = report.pentanomial;
    reversed.reverse();
    assert_eq!(reversed, swapped.pentanomial);
    assert!((report.score + swapped.score - 1.0).abs() < 1e-12);
    assert_eq!(
        (report.half_width, report.distinct_games),
        (swapped.half_width, swapped.distinct_games)
    );
}

#[test]
fn self_play_scores_one_half() {
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: 1000,
        seed: 3,
        threads: 2,
        remote: None,
    };
    let (report, _) = play_new_match(
        &two_factories::<Othello>("heuristic", "heuristic?name=other", 0.1),
        &config,
    );
    assert!((report.score - 0.5).abs() < 1.5 * report.half_width, "{report:?}");
    assert_eq!(report.games, 2000);
    // With random moves almost all games are distinct.
    assert!(report.distinct_games > 1900);
}

#[test]
fn duplicate_games_of_deterministic_players_are_counted() {
    // Both always play the first legal move, so there is one distinct game per opening.
    let first_move_player = |name: &str| {
        let answer: Answer = |game| Ok(game.position().moves().next().unwrap());
        PlayerFactory::new(name, move || Ok(Box::new(ScriptedPlayer { games: 0, answer })))
    };
    let pair = [first_move_player("a"), first_move_player("b")];
    let config = ContestConfig {
        openings: random_openings(5, 4),
        rounds: 20,
        seed: 3,
        threads: 2,
        remote: None,
    };
    let starts: HashSet<&[Square]> = config.openings.iter().map(Line::moves).collect();
    let (report, games) = play_new_match(&pair, &config);
    assert_eq!((report.games, report.distinct_games), (40, starts.len() as u64));
    assert_eq!(distinct_games(&games), report.distinct_games);
    assert_eq!(report.score, 0.5);
}

#[test]
fn checkers_matches_are_played_to_the_end() {
    let (report, games) = play_new_match(
        &two_factories::<Checkers>("material@4", "random", 0.0),
        &contest_config(10, 2),
    );
    assert_eq!(report.games, 20);
    assert!(report.score > 0.9, "{report:?}");
    assert!(games.iter().all(|game| game.played.line.position().is_over()));
}

/// A match that resumes from a truncated journal has the same games, and its journal the same
/// bytes.
#[test]
fn truncated_journals_resume_to_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    let pair = two_factories::<Othello>("heuristic", "random@mcts20", 0.1);
    let config = contest_config::<Othello>(20, 2);
    let play = |path: &Path| {
        let journal = Journal::open(path).unwrap();
        play_match(&pair, &config, None, Some(journal), |_, _| true).unwrap()
    };
    let whole = play(&path);
    let bytes = std::fs::read(&path).unwrap();
    for percent in [0, 1, 13, 50, 77, 99] {
        std::fs::write(&path, &bytes[..bytes.len() * percent / 100]).unwrap();
        assert_eq!(play(&path), whole);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    // A complete journal plays no new games.
    let mut new = 0;
    let journal = Journal::open(&path).unwrap();
    play_match(&pair, &config, None, Some(journal), |_, new_games| {
        new += new_games;
        true
    })
    .unwrap();
    assert_eq!(new, 0);
}

#[test]
fn adding_a_player_repeats_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    let config = contest_config::<Othello>(8, 2);
    let run = |players: &[&str]| {
        let journal = Journal::open(&path).unwrap();
        let mut new = 0;
        let players = factories::<Othello>(players, 0.1);
        let league = play_league(&players, &config, Some(journal), |_, new_games| {
            new += new_games;
            true
        })
        .unwrap();
        (league.report(&RatingConfig::default()).unwrap(), new)
    };
    let (_, new) = run(&["heuristic", "random"]);
    assert_eq!(new, 16);
    let (extended, new) = run(&["yoshioka", "heuristic", "random"]);
    assert_eq!(new, 32);
    let uninterrupted = play_league(
        &factories(&["heuristic", "random", "yoshioka"], 0.1),
        &config,
        None,
        |_, _| true,
    );
    assert_eq!(uninterrupted.unwrap().report(&RatingConfig::default()).unwrap(), extended);
    let total: f64 = extended.players.iter().map(|p| p.points).sum();
    assert_eq!(total, 48.0);
}

/// The move or error of a player on its turn.
type Answer = fn(&Line<Othello>) -> Result<Square, PlayerError>;

/// Plays the first legal move. In every third game it gives `answer` once there are more than 20
/// discs.
struct ScriptedPlayer {
    games: u32,
    answer: Answer,
}

impl Player<Othello> for ScriptedPlayer {
    fn new_game(&mut self) -> Result<(), PlayerError> {
        self.games += 1;
        Ok(())
    }

    fn choose(&mut self, game: &Line<Othello>, _: &mut Rng) -> Result<Square, PlayerError> {
        if self.games.is_multiple_of(3) && game.position().pieces() > 20 {
            return (self.answer)(game);
        }
        Ok(game.position().moves().next().unwrap())
    }
}

#[test]
fn a_failing_player_forfeits_only_that_game() {
    let failures: [Answer; 2] = [
        |_| Err(PlayerError::Timeout { player: "failing".to_owned(), seconds: 1 }),
        // d4 is occupied from the start, so this move is never legal.
        |_| Ok("d4".parse().unwrap()),
    ];
    for answer in failures {
        let failing = PlayerFactory::new("failing", move || {
            Ok(Box::new(ScriptedPlayer { games: 0, answer }))
        });
        let random = factories::<Othello>(&["random"], 0.0).remove(0);
        let config = ContestConfig {
            openings: random_openings(10, 4),
            rounds: 10,
            seed: 1,
            threads: 1,
            remote: None,
        };
        let (report, games) = play_new_match(&[failing, random], &config);
        assert!(report.complete && report.games == 20);
        assert!(!report.forfeits.is_empty() && report.forfeits.len() < 20);
        for game in &games {
            let Some(early_end) = &game.played.early_end else { continue };
            assert!(matches!(early_end.reason, EarlyEndReason::Failed(_)));
            assert_eq!(early_end.loser, if game.black == 0 { Side::Black } else { Side::White });
            assert_eq!(game.half_points_of(0), 0);
        }
        assert!(report.forfeits.iter().all(|forfeit| forfeit.player == "failing"));
    }
}

#[test]
fn games_of_another_contest_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    for line in [
        "heuristic\trandom\t0",
        "heuristic\trandom\tx\t0\t\t",
        "heuristic\trandom\t0\t0\ta1\t",
        "heuristic\trandom\t0\t12\t\t",
    ] {
        let _ = std::fs::remove_file(&path);
        Journal::open(&path).unwrap().0.append(&[line]).unwrap();
        let journal = Journal::open(&path).unwrap();
        let pair = two_factories::<Othello>("heuristic", "random", 0.0);
        let error =
            play_match(&pair, &contest_config(2, 1), None, Some(journal), |_, _| true).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!(
                "{}:1: game does not belong to this contest",
                path.display()
            )),
            "{error}"
        );
    }
}

#[test]
fn an_empty_contest_is_an_error() {
    let no_openings =
        ContestConfig { openings: Vec::new(), rounds: 1, seed: 1, threads: 1, remote: None };
    let pair = two_factories::<Othello>("heuristic", "random", 0.0);
    assert!(play_contest(&pair, &[(0, 1)], &no_openings, None, |_| true).is_err());
}

#[test]
fn a_game_from_a_finished_position_ends_immediately() {
    let finished: Othello = format!("{}{} X", "X".repeat(40), "O".repeat(24)).parse().unwrap();
    let mut players = factories::<Othello>(&["heuristic", "random"], 0.0);
    let (mut a, mut b) = (players.remove(0).make().unwrap(), players.remove(0).make().unwrap());
    let played = play_game(&mut *a, &mut *b, &Line::new(finished), &mut rng::stream(1, &[]));
    assert_eq!((played.result, played.half_points()), (16, 2));
}

/// Returns the data folder; `None` if OUTFLANK_DATA is not set.
fn data_folder() -> Option<PathBuf> {
    let data = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    data
}

/// Runarsson & Lucas (2014), Table IV, for the players that were published. Scores depend on how
/// ties are broken, by up to 90 of 2,000 points, mostly by less than 30.
#[test]
fn published_players_reach_their_published_match_scores() {
    let Some(data) = data_folder() else { return };
    let player = |name: &str| data.join("players").join(name).display().to_string();
    let ipref = player("RunnarsonLucas2014IPrefN.player");
    let ctdl = player("SzubertJaskowskiKrawiec2013CTDL.player");
    let etdl = player("SzubertJaskowskiKrawiec2013ETDL.player");
    let burrow = player("Burrow2011ETDL.player");
    let boards = data.join("openings/lucas_boards.txt");
    let openings = read_openings::<Othello>(&boards, None).unwrap();
    assert_eq!(openings.len(), 1000);
    let config = ContestConfig { openings, rounds: 1000, seed: 1, threads: 2, remote: None };
    for (a, b, published) in [
        (&ipref, &ctdl, 1134.5),
        (&ipref, &burrow, 1245.5),
        (&ipref, &etdl, 1372.0),
        (&ctdl, &burrow, 1219.0),
        (&ctdl, &etdl, 1349.0),
        (&burrow, &etdl, 1184.5),
    ] {
        let (report, _) = play_new_match(&two_factories::<Othello>(a, b, 0.0), &config);
        let points = report.wins as f64 + 0.5 * report.draws as f64;
        assert!((points - published).abs() <= 30.0, "{a} {b}: {points}, published {published}");
    }
}

/// The protocol of the Othello League: 10,000 games with 10% random moves. The League
/// publishes whole percentages.
#[test]
fn published_players_reach_their_othello_league_scores() {
    let Some(data) = data_folder() else { return };
    let config = ContestConfig {
        openings: vec![Line::default()],
        rounds: 5000,
        seed: 1,
        threads: 2,
        remote: None,
    };
    for (name, percent) in [
        ("Jaskowski2014All2", 96.0),
        ("Burrow2011ETDL", 85.0),
        ("SzubertJaskowskiKrawiec2013CTDL", 67.0),
        ("RunnarsonLucas2014IPrefN", 62.0),
    ] {
        let player = data.join("players").join(format!("{name}.player")).display().to_string();
        let (report, _) =
            play_new_match(&two_factories::<Othello>(&player, "heuristic", 0.1), &config);
        assert!((100.0 * report.score - percent).abs() < 2.0, "{name}: {}", report.score);
    }
}

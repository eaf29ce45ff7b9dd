//! Contests: fair, repeatable, resumable, and in agreement with what was published.

use outflank_arena::league::play_league;
use outflank_arena::matches::{MatchReport, play_match};
use outflank_arena::ratings::RatingConfig;
use outflank_arena::{Game, ContestConfig, contest, distinct, play};
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_models::{Evaluate, Policy, embedded};
use outflank_players::registry::{self, RegisteredGame};
use outflank_players::{PlayerFactory, PlayerError, Player, Staged};
use outflank_records::read_openings;
use outflank_runs::{RngExt, Journal, Rng, rng};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn entries<P: RegisteredGame>(players: &[&str], random: f64) -> Vec<PlayerFactory<P>> {
    let texts: Vec<String> = players.iter().map(|&text| text.to_owned()).collect();
    registry::factories(&texts, random).unwrap()
}

fn pair<P: RegisteredGame>(a: &str, b: &str, random: f64) -> [PlayerFactory<P>; 2] {
    entries(&[a, b], random).try_into().unwrap()
}

/// Openings of a few random moves.
fn openings<P: Position>(count: usize, plies: usize) -> Vec<Line<P>> {
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

fn terms<P: Position>(rounds: u32, threads: usize) -> ContestConfig<P> {
    ContestConfig { openings: openings(50, 4), rounds, seed: 7, threads, remote: None }
}

fn result<P: RegisteredGame>(pair: &[PlayerFactory<P>; 2], terms: &ContestConfig<P>) -> (MatchReport, Vec<Game<P>>) {
    play_match(pair, terms, None, None, |_, _| {}).unwrap()
}

#[test]
fn any_number_of_threads_plays_the_same_games() {
    let pair = pair::<Othello>("heuristic", "yoshioka@2", 0.1);
    let one = result(&pair, &terms(40, 1));
    for threads in [2, 3, 8] {
        assert_eq!(result(&pair, &terms(40, threads)), one);
    }
}

/// The heuristic, which notes how many positions it is asked about together.
struct Patient {
    asks: usize,
    largest: std::sync::atomic::AtomicUsize,
}

impl Policy<Othello> for Patient {
    fn score(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        embedded::heuristic().after_moves(position, moves, out);
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
        self.asks
    }
}

/// A model that is asked about many games together plays the games that it plays alone: with forced
/// random moves, with a stage left to a search, against itself.
#[test]
fn games_side_by_side_are_the_games_one_by_one() {
    let play = |asks: usize, threads: usize| {
        let patient = Arc::new(Patient { asks, largest: 0.into() });
        let entry =
            |name: &str, random: f64| registry::policy_factory(name, patient.clone() as _, random);
        let (plain, other) =
            (entry("staged", 0.0), registry::factory::<Othello>("yoshioka@2e6").unwrap());
        let staged = plain.clone().combined_with(&other.clone(), move || {
            Ok(Box::new(Staged::new(plain.make()?, other.make()?, 10, 20)))
        });
        let mut players = entries::<Othello>(&["yoshioka", "yoshioka@2"], 0.1);
        players.extend([entry("plain", 0.0), entry("forced", 0.2), staged]);
        let pairs: Vec<_> = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).collect();
        let mut games = Vec::new();
        let all = contest(&players, &pairs, &terms(40, threads), None, |more, _| {
            games.extend(more);
            true
        });
        assert!(all.unwrap());
        (games, patient.largest.load(std::sync::atomic::Ordering::Relaxed))
    };
    let (alone, never) = play(1, 2);
    assert_eq!((alone.len(), never), (800, 0));
    for threads in [1, 3] {
        let (together, largest) = play(32, threads);
        assert!(together == alone);
        assert_eq!(largest, 32);
    }
}

#[test]
fn swapping_the_players_mirrors_every_figure() {
    let terms = terms::<Othello>(60, 2);
    let (there, _) = result(&pair("heuristic", "yoshioka", 0.1), &terms);
    let (back, _) = result(&pair("yoshioka", "heuristic", 0.1), &terms);
    assert_eq!((there.wins, there.draws, there.losses), (back.losses, back.draws, back.wins));
    let mut rounds = there.pentanomial;
    rounds.reverse();
    assert_eq!(rounds, back.pentanomial);
    assert!((there.score + back.score - 1.0).abs() < 1e-12);
    assert_eq!((there.error, there.distinct_games), (back.error, back.distinct_games));
}

#[test]
fn a_player_is_level_with_itself() {
    let terms = ContestConfig {
        openings: vec![Line::default()],
        rounds: 1000,
        seed: 3,
        threads: 2,
        remote: None,
    };
    let (report, _) = result(&pair::<Othello>("heuristic", "heuristic?name=other", 0.1), &terms);
    assert!((report.score - 0.5).abs() < 1.5 * report.error, "{report:?}");
    assert_eq!(report.games, 2000);
    // With forced random moves hardly any game repeats another.
    assert!(report.distinct_games > 1900);
}

#[test]
fn players_without_chance_repeat_themselves_and_the_report_says_so() {
    // Both always play the first legal move, so all games from one opening are one game.
    let first_move = |name: &str| {
        let fault: Way = |game| Ok(game.position().moves().next().unwrap());
        PlayerFactory::new(name, move || Ok(Box::new(Moody { games: 0, fault })))
    };
    let pair = [first_move("a"), first_move("b")];
    let terms =
        ContestConfig { openings: openings(5, 4), rounds: 20, seed: 3, threads: 2, remote: None };
    let starts: HashSet<&[Square]> = terms.openings.iter().map(Line::moves).collect();
    let (report, games) = result(&pair, &terms);
    assert_eq!((report.games, report.distinct_games), (40, starts.len() as u64));
    assert_eq!(distinct(&games), report.distinct_games);
    assert_eq!(report.score, 0.5);
}

#[test]
fn checkers_is_played_like_any_other_game() {
    let (report, games) = result(&pair::<Checkers>("material@4", "random", 0.0), &terms(10, 2));
    assert_eq!(report.games, 20);
    assert!(report.score > 0.9, "{report:?}");
    assert!(games.iter().all(|game| game.played.line.position().is_over()));
}

/// Cutting the journal anywhere and going on gives the same games and the same journal.
#[test]
fn a_contest_goes_on_from_wherever_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    let pair = pair::<Othello>("heuristic", "random@mcts20", 0.1);
    let terms = terms::<Othello>(20, 2);
    let play = |path: &Path| {
        let journal = Journal::open(path).unwrap();
        play_match(&pair, &terms, None, Some(journal), |_, _| {}).unwrap()
    };
    let whole = play(&path);
    let bytes = std::fs::read(&path).unwrap();
    for share in [0, 1, 13, 50, 77, 99] {
        std::fs::write(&path, &bytes[..bytes.len() * share / 100]).unwrap();
        assert_eq!(play(&path), whole);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    // Nothing is played again once all is there.
    let mut new = 0;
    let journal = Journal::open(&path).unwrap();
    play_match(&pair, &terms, None, Some(journal), |_, n| new += n).unwrap();
    assert_eq!(new, 0);
}

#[test]
fn a_player_who_joins_later_replays_nobody_elses_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    let terms = terms::<Othello>(8, 2);
    let run = |players: &[&str]| {
        let journal = Journal::open(&path).unwrap();
        let mut new = 0;
        let entries = entries::<Othello>(players, 0.1);
        let league = play_league(&entries, &terms, Some(journal), |_, n| new += n).unwrap();
        (league.report(&RatingConfig::default()).unwrap(), new)
    };
    let (_, new) = run(&["heuristic", "random"]);
    assert_eq!(new, 16);
    let (joined, new) = run(&["yoshioka", "heuristic", "random"]);
    assert_eq!(new, 32);
    let fresh =
        play_league(&entries(&["heuristic", "random", "yoshioka"], 0.1), &terms, None, |_, _| {});
    assert_eq!(fresh.unwrap().report(&RatingConfig::default()).unwrap(), joined);
    let total: f64 = joined.players.iter().map(|p| p.points).sum();
    assert_eq!(total, 48.0);
}

/// What a player does where it fails.
type Way = fn(&Line<Othello>) -> Result<Square, PlayerError>;

/// Plays the first legal move, and fails in a way of its own in every third game.
struct Moody {
    games: u32,
    fault: Way,
}

impl Player<Othello> for Moody {
    fn begin(&mut self) -> Result<(), PlayerError> {
        self.games += 1;
        Ok(())
    }

    fn choose(&mut self, game: &Line<Othello>, _: &mut Rng) -> Result<Square, PlayerError> {
        if self.games.is_multiple_of(3) && game.position().pieces() > 20 {
            return (self.fault)(game);
        }
        Ok(game.position().moves().next().unwrap())
    }
}

#[test]
fn a_player_who_fails_loses_that_game_and_the_match_goes_on() {
    let ways: [Way; 2] = [
        |_| Err(PlayerError::Timeout { player: "moody".to_owned(), seconds: 1 }),
        // The first disc's square is taken, so this is never legal.
        |_| Ok("d4".parse().unwrap()),
    ];
    for fault in ways {
        let moody = PlayerFactory::new("moody", move || Ok(Box::new(Moody { games: 0, fault })));
        let steady = entries::<Othello>(&["random"], 0.0).remove(0);
        let terms =
            ContestConfig { openings: openings(10, 4), rounds: 10, seed: 1, threads: 1, remote: None };
        let (report, games) = result(&[moody, steady], &terms);
        assert!(report.complete && report.games == 20);
        assert!(!report.forfeits.is_empty() && report.forfeits.len() < 20);
        for game in games.iter().filter(|game| game.played.forfeit.is_some()) {
            let (side, _) = game.played.forfeit.as_ref().unwrap();
            assert_eq!(*side, if game.black == 0 { Side::Black } else { Side::White });
            assert_eq!(game.half_points_of(0), 0);
        }
        assert!(report.forfeits.iter().all(|fault| fault.player == "moody"));
    }
}

#[test]
fn a_foreign_journal_is_refused() {
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
        let pair = pair::<Othello>("heuristic", "random", 0.0);
        let error = play_match(&pair, &terms(2, 1), None, Some(journal), |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("line 1 of the journal"), "{error}");
    }
}

#[test]
fn nothing_to_play_is_an_error() {
    let none = ContestConfig { openings: Vec::new(), rounds: 1, seed: 1, threads: 1, remote: None };
    let pair = pair::<Othello>("heuristic", "random", 0.0);
    assert!(contest(&pair, &[(0, 1)], &none, None, |_, _| true).is_err());
}

#[test]
fn a_game_from_a_finished_position_has_its_result_at_once() {
    let over: Othello = format!("{}{} X", "X".repeat(40), "O".repeat(24)).parse().unwrap();
    let mut players = entries::<Othello>(&["heuristic", "random"], 0.0);
    let (mut a, mut b) = (players.remove(0).make().unwrap(), players.remove(0).make().unwrap());
    let played = play(&mut *a, &mut *b, &Line::new(over), &mut rng::stream(1, &[]));
    assert_eq!((played.margin, played.half_points()), (16, 2));
}

fn data() -> Option<PathBuf> {
    let data = std::env::var_os("OUTFLANK_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: OUTFLANK_DATA is not set");
    }
    data
}

/// Paper 0's Table IV, as far as its players were published. Scores depend on how ties are broken,
/// by up to 90 of 2,000 points and mostly by less than 30.
#[test]
fn the_published_players_score_as_published() {
    let Some(data) = data() else { return };
    let player = |name: &str| data.join("players").join(name).display().to_string();
    let ipref = player("RunnarsonLucas2014IPrefN.player");
    let ctdl = player("SzubertJaskowskiKrawiec2013CTDL.player");
    let etdl = player("SzubertJaskowskiKrawiec2013ETDL.player");
    let burrow = player("Burrow2011ETDL.player");
    let boards = data.join("openings/lucas_boards.txt");
    let openings = read_openings::<Othello>(&boards, None).unwrap();
    assert_eq!(openings.len(), 1000);
    let terms = ContestConfig { openings, rounds: 1000, seed: 1, threads: 2, remote: None };
    for (a, b, printed) in [
        (&ipref, &ctdl, 1134.5),
        (&ipref, &burrow, 1245.5),
        (&ipref, &etdl, 1372.0),
        (&ctdl, &burrow, 1219.0),
        (&ctdl, &etdl, 1349.0),
        (&burrow, &etdl, 1184.5),
    ] {
        let (report, _) = result(&pair::<Othello>(a, b, 0.0), &terms);
        let points = report.wins as f64 + 0.5 * report.draws as f64;
        assert!((points - printed).abs() <= 30.0, "{a} {b}: {points}, printed {printed}");
    }
}

/// The Othello League's protocol: 10,000 games, both players forced to a random move one time in
/// ten. The figures are the League's, to the whole per cent.
#[test]
fn the_published_players_score_in_the_league_as_published() {
    let Some(data) = data() else { return };
    let terms = ContestConfig {
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
        let (report, _) = result(&pair::<Othello>(&player, "heuristic", 0.1), &terms);
        assert!((100.0 * report.score - percent).abs() < 2.0, "{name}: {}", report.score);
    }
}

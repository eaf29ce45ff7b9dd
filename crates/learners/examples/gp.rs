//! Learns heuristics by Gaussian-process preferences and prints the curve, as tab-separated
//! columns, and where the time went.
//!
//! ```text
//! cargo run --release -p outflank-learners --example gp -- \
//!     [othello|checkers] [bald|random|uncertainty] [pair|best] [rounds] [seed] [tests] [option...]
//! ```
//! Options: `ard` gives each weight a length scale of its own; `ceiling` measures how often the
//! winner of a test pair wins again; `opening=N` begins games with so many random moves; `games=N`
//! is how many games a pair plays.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_learners::gp::{Contest, GamesOf, Gp, Inference, Sampling, Settings, Tests};
use outflank_models::Described;
use outflank_players::roster::Roster;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, usual: &'static str| words.get(at).map_or(usual, String::as_str);
    match word(0, "othello") {
        "othello" => learn::<Othello>(&words),
        "checkers" => learn::<Checkers>(&words),
        other => Err(format!("no game is called '{other}'").into()),
    }
}

fn learn<P: Roster + Described>(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let word = |at: usize, usual: &'static str| words.get(at).map_or(usual, String::as_str);
    let sampling = match word(1, "bald") {
        "bald" => Sampling::Bald,
        "random" => Sampling::Random,
        "uncertainty" => Sampling::Uncertainty,
        other => return Err(format!("no sampling is called '{other}'").into()),
    };
    let against_best = word(2, "pair") == "best";
    let rounds: u32 = word(3, "100").parse()?;
    let seed: u64 = word(4, "1").parse()?;
    let count: usize = word(5, "1000").parse()?;
    let has = |option: &str| words.iter().skip(6).any(|word| word == option);
    let number = |option: &str, usual: u32| -> u32 {
        let given =
            words.iter().skip(6).find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        given.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let settings = Settings {
        dimensions: P::FEATURES.len(),
        initial: if against_best { 5 } else { 2 },
        opponents: 5,
        sampling,
        against_best,
        restarts: 8,
        inference: Inference { tolerance: 1e-4, sweeps: 100, steps: 10, relevance: has("ard") },
        seed,
    };
    let contest =
        Contest { depth: 4, games: number("games", 3), opening: number("opening", 4), seed };
    let benchmark = if against_best { 50 } else { 0 };

    let begun = Instant::now();
    // The test pairs are the same for every seed and every way to sample.
    let games = GamesOf::<P>::new(Contest { seed: 1, ..contest });
    let tests = Tests::play(&games, count, |_| {})?;
    eprintln!("{} test pairs, {} even, {:.1?}", tests.len(), tests.even, begun.elapsed());
    if has("ceiling") {
        let (same, even) = tests.repeated(&games, "fresh")?;
        println!("repeats\t{same:.4}\teven\t{even:.4}\tof decided\t{:.4}", same / (1.0 - even));
        let many = GamesOf::<P>::new(Contest { games: 15, seed: 2, ..contest });
        let (same, even) = tests.repeated(&many, "fifteen")?;
        println!(
            "majority of 15\t{same:.4}\teven\t{even:.4}\tof decided\t{:.4}",
            same / (1.0 - even)
        );
    }

    let mut gp = Gp::<P>::new(settings, contest, benchmark)?;
    let mut spent = [Duration::ZERO; 5];
    println!("round\tgames\tcomparisons\taccuracy\tevidence\tmean\tvariance\tbest\tparameters");
    for round in 0..=rounds {
        let mut clock = Instant::now();
        let mut lap = |part: usize| {
            spent[part] += clock.elapsed();
            clock = Instant::now();
        };
        let question = gp.choose();
        lap(0);
        let outcomes = gp.play(&question)?;
        lap(1);
        gp.learn(&question, &outcomes)?;
        lap(2);
        gp.score(&question)?;
        lap(3);
        let accuracy = gp.active().posterior().map_or(0.5, |posterior| tests.accuracy(posterior));
        lap(4);
        if let Some(shown) = gp.rounds().last() {
            println!(
                "{round}\t{}\t{}\t{accuracy:.3}\t{:.2}\t{:.3}\t{:.3}\t{}\t{:.2?}",
                shown.games,
                shown.comparisons,
                shown.evidence,
                shown.mean,
                shown.variance,
                shown.best,
                gp.active().parameters(),
            );
        }
    }
    let [bald, played, learned, scored, measured] = spent;
    eprintln!(
        "bald {bald:.1?}, games {played:.1?}, inference {learned:.1?}, benchmark {scored:.1?}, \
         accuracy {measured:.1?}"
    );
    println!("best\t{:?}", gp.model());
    if against_best {
        println!("fresh benchmark\t{}", gp.fresh_score()?);
    }
    Ok(())
}

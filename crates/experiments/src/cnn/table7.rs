//! Liskowski, Jaśkowski & Krawiec (2018), Table VII: playing strength of the best networks, without
//! search, against players with one-ply search.
//!
//! Measures points in percent against the 13 published players, CoCMAES, iPrefN and Edax-1.
//!
//! Departures: see `departures.rs`; our search in addition to Edax; the opponents.

use super::net_player::{COCMAES, IPREF_N, NetPlayer, edax, published_player, search};
use super::opponents::{OpponentSuite, THIRTEEN_OPPONENTS};
use super::table5::{BEST, ensembles};
use super::trained_nets::{TrainedNetCache, accuracy};
use super::{NetSpec, Percentage, add_percentage, split_name};
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};
use outflank_records::ExampleSetKind;
use outflank_report::text::format_count;

/// Title, architecture, and published: accuracy, scores against the thirteen, CoCMAES and Edax-1.
const ROWS: [(&str, &str, [f64; 4]); 4] = [
    ("ResNet-56-np-p", "resnet-56-np-p", [60.5, 94.3, 87.7, 80.7]),
    ("DenseNet-100", "densenet-100", [61.9, 94.1, 87.5, 79.0]),
    ("WideNet-40-4", "widenet-40-4", [62.2, 96.3, 92.2, 88.1]),
    ("Conv8+BN", "conv8-bn", [62.7, 96.7, 93.2, 87.5]),
];
/// Published figures of the ensemble.
const ENSEMBLE: [f64; 4] = [64.0, 96.6, 93.5, 87.6];

/// Published score of Conv8+BN against iPrefN (section VII).
const AGAINST_IPREF: f64 = 93.9;

/// The experiment `cnn/table7`.
pub(crate) struct Table7;

impl Experiment for Table7 {
    fn name(&self) -> &'static str {
        "cnn/table7"
    }

    fn about(&self) -> &'static str {
        "playing strength of networks without search against the published players at one ply"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn uses_edax(&self) -> bool {
        true
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let nets = TrainedNetCache::new(context);
        let lead = format!(
            "Points, in percent, in {} games against each opponent from the 1,000 openings with White to \
             move, both colors.",
            format_count(u64::from(2 * nets.params().rounds))
        );
        let mut report = Report::new(
            self.name(),
            context.scale,
            "Liskowski, Jaśkowski & Krawiec (2018), Table VII",
            lead,
        );
        let step = 3 * nets.params().row_step - 2;
        // The best network and its ensembles first.
        for (title, net, published) in ROWS.into_iter().rev().step_by(step) {
            let is_best = net == BEST.net;
            let spec = if is_best { BEST } else { NetSpec::new(net).quarter_budget() };
            let mut players = vec![(title.to_owned(), vec![spec], published)];
            if is_best {
                let ensembles = ensembles(&nets, false).into_iter();
                players.extend(ensembles.map(|(title, specs)| (title, specs, ENSEMBLE)));
            }
            for (title, specs, published) in players {
                add_row(&mut report, &nets, &title, &specs, Some(published))?;
                if !nets.is_tested_both_ways(specs[0]) {
                    let by_game =
                        |&spec: &NetSpec| NetSpec { by_game: true, full_training: false, ..spec };
                    let specs: Vec<NetSpec> = specs.iter().map(by_game).collect();
                    add_row(&mut report, &nets, &format!("{title}, by game"), &specs, None)?;
                }
            }
        }
        nets.add_departures_and_omissions(&mut report);
        report.departures.push(
            "Our own search at one ply, exact from two empty squares, plays in addition to Edax-1. Give \
             --edax COMMAND to play against Edax."
                .to_owned(),
        );
        let suite = OpponentSuite::new(&nets);
        report.findings.extend(suite.finding());
        report.departures.extend(suite.departure());
        Ok(nets.outcome(report))
    }
}

/// Adds the row of a network or an ensemble.
fn add_row(
    report: &mut Report,
    nets: &TrainedNetCache<'_>,
    title: &str,
    specs: &[NetSpec],
    published: Option<[f64; 4]>,
) -> Result<(), ExperimentError> {
    let paper = |at: usize| published.map(|published| published[at]);
    // A network that was also trained on later games has no accuracy by game; one trained for the
    // test by game has none by example.
    let tests = nets.test_results(specs)?;
    for (by_game, paper) in [(false, paper(0)), (true, None)] {
        let spec = NetSpec { by_game, ..specs[0] };
        let is_tested = by_game == specs[0].by_game || nets.is_tested_both_ways(specs[0]);
        let figure = accuracy(&tests, spec, ExampleSetKind::UniqueS).filter(|_| is_tested);
        let column = format!("accuracy {}", split_name(by_game));
        add_percentage(report, title, &column, paper, figure);
    }
    let mut player = NetPlayer::new(nets, specs)?;
    let suite = OpponentSuite::new(nets);
    suite.add_score(report, title, THIRTEEN_OPPONENTS, paper(1), player.mean_score(&suite)?);
    let mut score_against = |name: &str| -> Result<Option<Percentage>, ExperimentError> {
        let opponent = published_player(nets, name);
        opponent.map_or(Ok(None), |opponent| player.score_against(&opponent, None))
    };
    let (cocmaes, ipref) = (score_against(COCMAES)?, score_against(IPREF_N)?);
    add_percentage(report, title, "CoCMAES-4+2x2", paper(2), cocmaes);
    add_percentage(report, title, "iPrefN", (specs == [BEST]).then_some(AGAINST_IPREF), ipref);
    let edax = edax(nets, 1);
    let score = edax.map_or(Ok(None), |edax| player.score_against(&edax, None))?;
    add_percentage(report, title, "Edax-1", paper(3), score);
    let score = player.score_against(&search(1), None)?;
    add_percentage(report, title, "our search at 1 ply", None, score);
    Ok(())
}

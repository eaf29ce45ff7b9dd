//! Runarsson & Lucas (2014), Table V: the two strongest N-tuple players with a selection of weak
//! players. Departures as in [`table3`](super::table3), and the name One-Diff.

use super::table4::report_sub_league;
use crate::context::{DataFolder, ExperimentContext, ExperimentError};
use crate::{Experiment, ExperimentOutcome, Report};

/// Published ratings and percentage scores, under the names of Table III. Table V uses other names:
/// WPC-Coev, WPC-Heu, One-MM, One-Diff, One-Cls and One-LSTD.
const STANDINGS: [(&str, f64, f64); 8] = [
    ("SJK-CTDL-N-Tuple", 1906.0, 84.8),
    ("iPref-N-Tuple", 1866.0, 81.2),
    ("Coev-WPC", 1668.0, 59.1),
    ("Heur-WPC", 1632.0, 54.7),
    ("MM-1-Tuple", 1512.0, 39.5),
    ("Pref-1-Tuple", 1483.0, 35.8),
    ("Classify-1-Tuple", 1399.0, 25.9),
    ("LSTD-1-Tuple", 1335.0, 19.1),
];

/// Published points of the row against the column, of 2,000.
const POINTS: [[f64; 8]; 8] = [
    [0.0, 865.5, 1807.5, 1547.5, 1863.5, 1901.5, 1921.5, 1958.5],
    [1134.5, 0.0, 1614.0, 1178.5, 1799.5, 1842.0, 1878.5, 1915.5],
    [192.5, 386.0, 0.0, 1089.0, 1575.5, 1578.0, 1713.5, 1746.0],
    [452.5, 821.5, 911.0, 0.0, 1297.0, 1382.5, 1296.5, 1494.0],
    [136.5, 200.5, 424.5, 703.0, 0.0, 1128.0, 1306.5, 1629.5],
    [98.5, 158.0, 422.0, 617.5, 872.0, 0.0, 1246.0, 1595.5],
    [78.5, 121.5, 286.5, 703.5, 693.5, 754.0, 0.0, 987.0],
    [41.5, 84.5, 254.0, 506.0, 370.5, 404.5, 1013.0, 0.0],
];

/// The experiment `preference/table5`.
pub(crate) struct Table5;

impl Experiment for Table5 {
    fn name(&self) -> &'static str {
        "preference/table5"
    }

    fn about(&self) -> &'static str {
        "the two strongest N-tuple players with a selection of weak ones"
    }

    fn data_folders(&self) -> &'static [DataFolder] {
        &DataFolder::ALL
    }

    fn run(&self, context: &ExperimentContext) -> Result<ExperimentOutcome, ExperimentError> {
        let title = "Runarsson & Lucas (2014), Table V";
        let lead = "Two strong players and a selection of weak ones: points of the row player against \
                    the column player, of 2,000.";
        let mut report = Report::new(self.name(), context.scale, title, lead.to_owned());
        report_sub_league(context, &mut report, &STANDINGS, &POINTS)?;
        report.departures.push(
            "One-Diff is assumed to be Pref-1-Tuple: the text calls preference learning differential."
                .to_owned(),
        );
        Ok(report.into())
    }
}

//! Experiments: the tables and figures of papers.

use crate::contest::{to_dict, work_queue};
use crate::errors::{OrRaise, error};
use crate::work::{self, interrupted, thread_count};
use outflank_experiments::{
    EXPERIMENTS, Experiment, ExperimentContext, ExperimentError, RemoteTraining, Report, Scale,
    paper_of, run_experiment,
};
use outflank_report::Theme;
use outflank_runs::{clear_stop_request, did_you_mean, files, request_stop};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::to_string_pretty;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Width of figures that are written as files.
const WIDTH: f64 = 760.0;

/// The report of an experiment: the published figures, ours, and what they show.
#[pyclass(frozen, module = "outflank")]
pub(crate) struct ExperimentReport {
    json: serde_json::Value,
    title: String,
    lead: String,
    text: String,
    csv: String,
    html: String,
    /// File names and contents of the plots.
    plots: Vec<(String, String)>,
}

impl ExperimentReport {
    fn new(report: &Report, command: &str, seed: u64) -> ExperimentReport {
        let table = report.matrix().unwrap_or_else(|| report.table());
        let plot = |(stem, figure, _): &(String, Box<dyn outflank_report::Figure>, String)| {
            (format!("{stem}.svg"), figure.draw(WIDTH).file(Theme::Light))
        };
        ExperimentReport {
            json: report.to_json(),
            title: report.title.clone(),
            lead: report.lead.clone(),
            text: format!("{}\n{}\n\n{}", report.title, report.lead, table.to_text()),
            csv: report.table().to_csv(),
            html: report.page(command, seed, env!("CARGO_PKG_VERSION")),
            plots: report.figures.iter().map(plot).collect(),
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        let items = self.json[key].as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }
}

#[pymethods]
impl ExperimentReport {
    /// The name of the experiment, such as "preference/table2".
    #[getter]
    fn experiment(&self) -> Option<&str> {
        self.json["experiment"].as_str()
    }

    /// The scale: "smoke", "desk" or "paper".
    #[getter]
    fn scale(&self) -> Option<&str> {
        self.json["scale"].as_str()
    }

    /// The title: the paper and the table or figure.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// What was measured.
    #[getter]
    fn lead(&self) -> &str {
        &self.lead
    }

    /// One dictionary per figure of the table or point of a curve, for pandas.DataFrame: row, column,
    /// paper (the published figure), ours, error (95%).
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.as_any().get_item("cells")
    }

    /// Comparisons of our figures with the claims of the paper.
    #[getter]
    fn findings(&self) -> Vec<String> {
        self.list("findings")
    }

    /// Departures from the paper, with reasons.
    #[getter]
    fn departures(&self) -> Vec<String> {
        self.list("departures")
    }

    /// Returns the report as a dictionary, as `outflank reproduce --json` prints it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.json)
    }

    /// Returns the report as a self-contained HTML page.
    fn to_html(&self) -> &str {
        &self.html
    }

    /// Writes report.json, cells.csv, report.html and the plots to a folder. The figures are those of
    /// the command line.
    fn save(&self, folder: PathBuf) -> PyResult<()> {
        files::create_folder(&folder).or_raise()?;
        let write =
            |name: &str, text: &str| files::write(&folder.join(name), text.as_bytes()).or_raise();
        write("report.json", &(to_string_pretty(&self.json).or_raise()? + "\n"))?;
        write("cells.csv", &self.csv)?;
        write("report.html", &self.html)?;
        self.plots.iter().try_for_each(|(name, svg)| write(name, svg))
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let cells = self.json["cells"].as_array().map_or(0, Vec::len);
        format!("<outflank.ExperimentReport: {}, {cells} cells>", self.title)
    }

    fn _repr_html_(&self) -> String {
        crate::analysis::frame(&self.html)
    }
}

/// Returns the experiments as a list of dictionaries, for pandas.DataFrame: name, about, paper, and
/// whether an executor or a NATS server can train the runs (remote).
#[pyfunction]
pub(crate) fn experiments(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |experiment: &&dyn Experiment| {
        let row = PyDict::new(py);
        row.set_item("name", experiment.name())?;
        row.set_item("about", experiment.about())?;
        row.set_item("paper", paper_of(experiment.name()))?;
        row.set_item("remote", experiment.supports_remote())?;
        Ok(row)
    };
    EXPERIMENTS.iter().map(row).collect()
}

/// Returns the experiment with a name.
fn find(name: &str) -> PyResult<&'static dyn Experiment> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        error(format!("there is no experiment '{name}'; {}", did_you_mean(name, &names)))
    })
}

/// Checks that a data folder has what an experiment reads.
fn check_data(experiment: &dyn Experiment, data: Option<&Path>) -> PyResult<()> {
    let Some(data) = data else { return Ok(()) };
    let mut folders = experiment.data_folders().iter();
    match folders.find(|folder| !data.join(folder.dir_name()).is_dir()) {
        None => Ok(()),
        Some(missing) => Err(error(format!(
            "{} has no folder {} with {}; name another data folder, or omit it to use the embedded \
             games",
            data.display(),
            missing.dir_name(),
            missing.description()
        ))),
    }
}

/// Reproduces a table or figure of a paper, as `outflank reproduce` does.
///
/// `scale` is "smoke" (seconds; the figures are meaningless), "desk" or "paper". `data` is a folder
/// with the games of the papers; without it the embedded games are used. `out` is a folder for
/// intermediate results, from which an interrupted experiment continues. `executor` is a
/// concurrent.futures.Executor and `on` a NATS server whose workers train the runs of the experiment;
/// `experiments` says which ones have such runs. `progress(messages, 0, message)` is called with each
/// message.
#[pyfunction]
#[pyo3(signature = (experiment, *, scale = "desk", seed = 1, threads = None, data = None, out = None,
    executor = None, on = None, queue = None, progress = None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub(crate) fn reproduce(
    py: Python<'_>,
    experiment: &str,
    scale: &str,
    seed: u64,
    threads: Option<usize>,
    data: Option<PathBuf>,
    out: Option<PathBuf>,
    executor: Option<Bound<'_, PyAny>>,
    on: Option<&str>,
    queue: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ExperimentReport> {
    let experiment = find(experiment)?;
    let scale: Scale = scale.parse().or_raise()?;
    check_data(experiment, data.as_deref())?;
    if (executor.is_some() || on.is_some()) && !experiment.supports_remote() {
        let others = EXPERIMENTS.iter().filter(|experiment| experiment.supports_remote());
        let names: Vec<&str> = others.map(|experiment| experiment.name()).collect();
        return Err(error(format!(
            "{} has no runs for workers; omit executor and on, or choose one of {}",
            experiment.name(),
            names.join(", ")
        )));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let queue = work_queue(py, executor.as_ref(), on, queue, &stop)?;
    let temporary = tempfile::tempdir().or_raise()?;
    let folder = out.as_deref().unwrap_or(temporary.path());
    files::create_folder(folder).or_raise()?;
    let with_data = data.is_some() && !experiment.data_folders().is_empty();
    let command = format!(
        "outflank reproduce {} --scale {} --seed {seed}{}",
        experiment.name(),
        scale.name(),
        if with_data { " --data DATA" } else { "" }
    );
    let outcome = work::run_in_pool(py, progress, |task| {
        let (count, reporter) = (AtomicU64::new(0), Arc::clone(task));
        let is_stopped = Arc::clone(&stop);
        let log = move |message: &str| {
            let messages = count.fetch_add(1, Ordering::Relaxed) + 1;
            if !reporter.report(messages, 0, message) {
                // Experiments check the stop request of the process.
                is_stopped.store(true, Ordering::Relaxed);
                request_stop();
            }
        };
        let context = ExperimentContext {
            threads: thread_count(threads),
            data,
            remote: queue.map(|queue| RemoteTraining { queue, experiment: experiment.name() }),
            log: Box::new(log),
            ..ExperimentContext::new(scale, seed, folder)
        };
        let report = run_experiment(experiment, &context)?;
        Ok(ExperimentReport::new(&report, &command, seed))
    });
    if stop.load(Ordering::Relaxed) {
        clear_stop_request();
    }
    match outcome? {
        Ok(report) => Ok(report),
        Err(ExperimentError::Stopped) => Err(interrupted()),
        Err(other) => Err(error(other)),
    }
}

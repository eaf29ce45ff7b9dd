//! What is told of an exhibit where no network is taught: what is known, and what had to be left out.

use super::super::Task;
use super::super::departures::departures;
use super::School;
use crate::Report;

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing is known of the network.
    Unknown,
    /// It learned otherwise than it would now.
    Otherwise,
    /// It has figures but no weights, so that it cannot be asked for more.
    Silent,
}

/// Networks and bags by their titles, each with the first reason that was found.
pub type LeftOut = Vec<(Why, String)>;

impl School<'_> {
    /// What a network, or a bag, is called where it stands beside others.
    pub fn title(&self, tasks: &[Task]) -> String {
        let Some(task) = tasks.first() else { return String::new() };
        let Task { net, input, set, .. } = task;
        let what = match (tasks.len(), task.bag, task.in_full) {
            (1, None, false) => (*input).to_owned(),
            (1, None, true) => "in full".to_owned(),
            (1, Some(_), false) => format!("of the bag of {}", self.size.bag),
            (1, Some(_), true) => format!("of the bag of {} in full", self.size.bag),
            (count, _, false) => format!("bag of {count}"),
            (count, _, true) => format!("bag of {count} in full"),
        };
        let split = match task.by_game && !self.answers_both(*task) {
            true => ", by game",
            false => "",
        };
        format!("{net} on {set}, {what}{split}")
    }

    /// Notes what an exhibit cannot have.
    pub(super) fn leave_out(&self, why: Why, tasks: &[Task]) {
        let title = self.title(tasks);
        let mut left_out = self.left_out.borrow_mut();
        if left_out.iter().all(|(_, other)| *other != title) {
            left_out.push((why, title));
        }
    }

    /// Adds what every exhibit says: where it departs from the paper and, before all findings, what it
    /// had to leave out.
    pub fn close(&self, report: &mut Report) {
        report.departures.extend(departures(self.lab));
        let left_out = self.left_out.borrow();
        let of = |why: Why| -> Vec<&str> {
            let those = left_out.iter().filter(|(reason, _)| *reason == why);
            those.map(|(_, title)| title.as_str()).collect()
        };
        let said = [
            (Why::Unknown, "Left out, since nothing is known of them", "teaches them"),
            (
                Why::Otherwise,
                "Left out, since they learned otherwise than they would now",
                "teaches them again",
            ),
            (
                Why::Silent,
                "Left out in part, since not all that is asked here is known of them and their weights are \
                 missing",
                "teaches them again and asks them",
            ),
        ];
        let findings = said.into_iter().filter_map(|(why, begin, end)| {
            let titles = of(why).join("; ");
            let said = format!("{begin}: {titles}. The same command with --device gpu {end}.");
            (!titles.is_empty()).then_some(said)
        });
        report.findings.splice(0..0, findings);
    }
}

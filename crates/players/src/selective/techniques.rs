//! Switches of the techniques of the selective search, to measure each of them.

use std::str::FromStr;

/// Which techniques a search uses; all by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Techniques {
    /// Multi-ProbCut: skips a deep search if shallow ones lie far enough outside the window.
    pub probcut: bool,
    /// ProbCut with the evaluation of the node itself as the first check.
    pub static_check: bool,
    /// ProbCut inside the searches of a check.
    pub recursive: bool,
    /// A root window around the last score.
    pub aspiration: bool,
    /// Enhanced transposition cutoffs: looks up all replies before searching one.
    pub enhanced_cutoffs: bool,
    /// Keeps the transposition table between moves.
    pub keep_table: bool,
    /// Move ordering by shallow searches instead of the evaluation alone.
    pub shallow_ordering: bool,
    /// Move ordering by the mobility of the opponent.
    pub mobility: bool,
    /// Move ordering by the parity of the quadrants.
    pub parity: bool,
    /// Move ordering by the squares that caused cutoffs before.
    pub history: bool,
    /// Bounds from stable discs.
    pub stability: bool,
    /// Selective endgame searches of increasing confidence before the exact one.
    pub selective_endgame: bool,
}

impl Techniques {
    /// All techniques.
    pub const ALL: Techniques = Techniques {
        probcut: true,
        static_check: true,
        recursive: true,
        aspiration: true,
        enhanced_cutoffs: true,
        keep_table: true,
        shallow_ordering: true,
        mobility: true,
        parity: true,
        history: true,
        stability: true,
        selective_endgame: true,
    };

    /// The names in [`Techniques::from_str`].
    pub const NAMES: [&str; 12] = [
        "probcut",
        "static-check",
        "recursive",
        "aspiration",
        "enhanced-cutoffs",
        "keep-table",
        "shallow-ordering",
        "mobility",
        "parity",
        "history",
        "stability",
        "selective-endgame",
    ];

    fn switch(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "probcut" => &mut self.probcut,
            "static-check" => &mut self.static_check,
            "recursive" => &mut self.recursive,
            "aspiration" => &mut self.aspiration,
            "enhanced-cutoffs" => &mut self.enhanced_cutoffs,
            "keep-table" => &mut self.keep_table,
            "shallow-ordering" => &mut self.shallow_ordering,
            "mobility" => &mut self.mobility,
            "parity" => &mut self.parity,
            "history" => &mut self.history,
            "stability" => &mut self.stability,
            "selective-endgame" => &mut self.selective_endgame,
            _ => return None,
        })
    }
}

impl Default for Techniques {
    fn default() -> Techniques {
        Techniques::ALL
    }
}

impl FromStr for Techniques {
    type Err = String;

    /// Parses a comma-separated list of the techniques to leave out.
    fn from_str(without: &str) -> Result<Techniques, String> {
        let mut techniques = Techniques::ALL;
        for name in without.split(',') {
            let unknown = || {
                let names = Techniques::NAMES.join(", ");
                format!("there is no search technique '{name}'; the techniques are {names}")
            };
            *techniques.switch(name).ok_or_else(unknown)? = false;
        }
        Ok(techniques)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_switches_one_technique_off() {
        let mut all = Vec::new();
        for name in Techniques::NAMES {
            let without: Techniques = name.parse().unwrap();
            assert_ne!(without, Techniques::ALL, "{name}");
            assert!(!all.contains(&without), "{name}");
            all.push(without);
        }
        assert!("probcut,telepathy".parse::<Techniques>().unwrap_err().contains("telepathy"));
        let both: Techniques = "history,parity".parse().unwrap();
        assert!(!both.history && !both.parity && both.mobility);
    }
}

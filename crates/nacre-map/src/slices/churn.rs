//! How often files changed lately, as git tells it.

use std::collections::BTreeMap;

/// Paths with the number of recent commits that changed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Churn {
    commits: BTreeMap<String, u32>,
}

impl Churn {
    pub fn of(&self, path: &str) -> u32 {
        self.commits.get(path).copied().unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }
}

/// Reads the output of `git log --format= --name-only -z`: the paths of each commit, one after another.
pub fn churn_of_log(log: &str) -> Churn {
    let mut churn = Churn::default();
    for path in log.split(['\0', '\n']).filter(|path| !path.is_empty()) {
        let count = churn.commits.entry(path.to_owned()).or_default();
        *count = count.saturating_add(1);
    }
    churn
}

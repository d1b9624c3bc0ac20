//! How often files changed lately, as git tells it.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Paths with the number of recent commits that changed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Churn {
    commits: HashMap<String, u32, RandomState>,
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
        match churn.commits.get_mut(path) {
            Some(count) => *count = count.saturating_add(1),
            None => {
                churn.commits.insert(path.to_owned(), 1);
            }
        }
    }
    churn
}

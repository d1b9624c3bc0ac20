//! Ids as short as they can be typed: the start of each that no other memory shares, and a few letters more.

use nacre_api::wire::Scope;

use crate::error::OpError;
use crate::host::Host;

/// What follows the first letter that no other id has, so that the next memory does not make it ambiguous at once.
const MORE: usize = 4;

/// The ids of the memories that a person may name.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    /// Sorted, each once.
    ids: Vec<String>,
}

/// The ids of all memories that a command reads, archived ones too: each can be named by its start.
pub fn short_ids(host: &Host, scope: Option<Scope>) -> Result<ShortIds, OpError> {
    let mut ids = Vec::new();
    for scoped in &host.stores_to_read(scope)? {
        ids.extend(scoped.store.located()?.into_iter().map(|at| at.id.to_string()));
    }
    Ok(ShortIds::new(ids))
}

impl ShortIds {
    fn new(mut ids: Vec<String>) -> Self {
        ids.sort();
        ids.dedup();
        Self { ids }
    }

    /// The start of an id that names it and no other; the whole id where it is not known.
    pub fn of<'i>(&self, id: &'i str) -> &'i str {
        let Ok(at) = self.ids.binary_search_by(|known| known.as_str().cmp(id)) else { return id };
        let before = at.checked_sub(1).and_then(|before| self.ids.get(before));
        let neighbours = before.into_iter().chain(self.ids.get(at + 1));
        let n_shared = neighbours.map(|other| shared(id, other)).max().unwrap_or(0);
        // The day alone says nothing: at least one word of the title follows it.
        let word = id.find('-').map_or(0, |dash| dash + 1);
        let from = word.max(n_shared + 1);
        let word_end =
            id.get(from..).and_then(|rest| rest.find('-')).map_or(id.len(), |end| from + end);
        id.get(..word_end.min(from + MORE)).unwrap_or(id)
    }
}

/// How many bytes two ids share at their start.
fn shared(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_names_one_memory() {
        let all = [
            "20261114-keep-logs-for-a-year",
            "20261115-use",
            "20261115-use-sqlite",
            "20261115-use-sqlite-for-the-queue",
            "20261115-write-small-commits",
        ];
        let ids = ShortIds::new(all.map(str::to_owned).to_vec());
        let short = all.map(|id| ids.of(id));
        assert_eq!(
            short,
            [
                "20261114-keep",
                "20261115-use",
                "20261115-use-sqlite",
                "20261115-use-sqlite-for",
                "20261115-write",
            ]
        );
        for (short, id) in short.into_iter().zip(all) {
            let meant = |other: &&&str| **other == short || other.starts_with(short);
            let is_whole = short == id;
            assert!(is_whole || all.iter().filter(meant).count() == 1, "{short}");
        }
        assert_eq!(ids.of("20261116-unknown-to-us"), "20261116-unknown-to-us");
    }
}

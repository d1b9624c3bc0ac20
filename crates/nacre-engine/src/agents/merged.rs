//! Text that a model has merged from several memories, and the checks it must pass before it is
//! used.
//!
//! The text is rejected if it mentions something that no source mentions, omits something that a
//! source mentions, or contradicts a source.

use nacre_memory::search::{Builtin, cosine, near_words};
use nacre_memory::{Kinship, Likeness, Profile, kinship};
use serde::{Deserialize, Serialize};

/// Maximum number of bytes by which the merged text may exceed the combined length of its sources.
const MAX_MORE_BYTES: usize = 200;
const MAX_TITLE_BYTES: usize = 160;

/// Maximum number of names in an error message.
const MAX_NAMES: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergedText {
    pub title: String,
    pub body: String,
}

#[derive(Clone, Copy, Debug)]
pub struct MergeSource<'a> {
    /// The name to use in error messages.
    pub name: &'a str,
    pub title: &'a str,
    pub body: &'a str,
}

impl MergedText {
    /// Returns the reason for rejecting the text, or `None` if it covers all of its sources and
    /// adds nothing.
    pub fn fault(&self, sources: &[MergeSource<'_>]) -> Option<String> {
        let result = Profile::of(&self.title, &self.body);
        let all: String =
            sources.iter().map(|one| format!("{}\n{}\n", one.title, one.body)).collect();
        let is_shaped = !self.title.trim().is_empty()
            && self.title.len() <= MAX_TITLE_BYTES
            && self.body.len() <= all.len() + MAX_MORE_BYTES;
        if !is_shaped {
            return Some("its length is invalid".to_owned());
        }
        let known = Profile::of("", &all);
        if let Some(names) = list_names(result.missing_from(&known)) {
            return Some(format!("it mentions what no source contains: {names}"));
        }
        sources.iter().find_map(|source| self.fault_beside(&result, source))
    }

    fn fault_beside(&self, result: &Profile, source: &MergeSource<'_>) -> Option<String> {
        let MergeSource { name, title, body } = *source;
        let profile = Profile::of(title, body);
        if let Some(names) = list_names(profile.missing_from(result)) {
            return Some(format!("it omits what {name} mentions: {names}"));
        }
        let wholes = [format!("{}\n{}", self.title, self.body), format!("{title}\n{body}")];
        let texts = [&*wholes[0], &*wholes[1], &*self.title, title];
        let vectors = texts.map(|text| Builtin::shipped().embed(text));
        let whole = cosine(&vectors[0], &vectors[1]);
        let likeness = Likeness { whole, titles: cosine(&vectors[2], &vectors[3]) };
        let is_against = kinship(result, &profile, likeness, &near_words).0 == Kinship::Against;
        is_against.then(|| format!("it contradicts {name}"))
    }
}

fn list_names<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> =
        names.take(MAX_NAMES).map(|name| format!("`{}`", name.escape_debug())).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

//! One text made of several memories by a model, and what is checked before it is taken.
//!
//! The model proposes words and nothing else. A text that names what no source names, lacks what a source names, or says no
//! to one of them is not taken.

use nacre_core::memory::{Kinship, Likeness, Profile, kinship};
use nacre_core::search::{Builtin, EmbedError, Embedder as _, near_words};
use serde::{Deserialize, Serialize};

/// A text may be a little longer than all that it is made of.
const MAX_MORE_BYTES: usize = 200;
const MAX_TITLE_BYTES: usize = 160;

/// A title and a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergedText {
    pub title: String,
    pub body: String,
}

/// What a text is made of.
#[derive(Clone, Copy, Debug)]
pub struct MergeSource<'a> {
    /// As a complaint names it.
    pub name: &'a str,
    pub title: &'a str,
    pub body: &'a str,
}

impl MergedText {
    /// What is wrong with the text; `None` where it says all that its sources say, and nothing else.
    pub fn fault(
        &self,
        sources: &[MergeSource<'_>],
        embedder: &Builtin,
    ) -> Result<Option<String>, EmbedError> {
        let result = Profile::of(&self.title, &self.body);
        let all: String =
            sources.iter().map(|one| format!("{}\n{}\n", one.title, one.body)).collect();
        let is_shaped = !self.title.trim().is_empty()
            && self.title.len() <= MAX_TITLE_BYTES
            && self.body.len() <= all.len() + MAX_MORE_BYTES;
        if !is_shaped {
            return Ok(Some("its length is wrong".to_owned()));
        }
        let known = Profile::of("", &all);
        if result.names_beyond(&known) || result.is_about_more_than(&known) {
            return Ok(Some("it names what none of them names".to_owned()));
        }
        for source in sources {
            if let Some(fault) = self.fault_beside(&result, source, embedder)? {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    fn fault_beside(
        &self,
        result: &Profile,
        source: &MergeSource<'_>,
        embedder: &Builtin,
    ) -> Result<Option<String>, EmbedError> {
        let MergeSource { name, title, body } = *source;
        let profile = Profile::of(title, body);
        if profile.names_beyond(result) || profile.is_about_more_than(result) {
            return Ok(Some(format!("it lacks what {name} names")));
        }
        let wholes = [format!("{}\n{}", self.title, self.body), format!("{title}\n{body}")];
        let vectors = embedder.embed(&[&*wholes[0], &*wholes[1], &*self.title, title])?;
        let cosine = |a: usize, b: usize| {
            vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
        };
        let likeness = Likeness { whole: cosine(0, 1), titles: cosine(2, 3) };
        let is_against = kinship(result, &profile, likeness, &near_words).0 == Kinship::Against;
        Ok(is_against.then(|| format!("it says otherwise than {name}")))
    }
}

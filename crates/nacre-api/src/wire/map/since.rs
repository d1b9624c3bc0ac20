//! Revisions of a map, and where a delta begins: short texts on the wire.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const EXPECTED: &str =
    "give a revision such as 6af1b3c4.17, git:REF, client:NAME, or 0 for everything";

/// A state of a project's files, such as `6af1b3c4.17`. Each change of them makes the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct MapRevision {
    /// Which artifact it belongs to: when that was first made.
    pub epoch: u32,
    pub number: u64,
}

impl fmt::Display for MapRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}.{}", self.epoch, self.number)
    }
}

impl FromStr for MapRevision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('.').and_then(|(epoch, number)| {
            let epoch = u32::from_str_radix(epoch, 16).ok()?;
            Some(Self { epoch, number: number.parse().ok()? })
        });
        parsed.ok_or_else(|| "give a revision such as 6af1b3c4.17".to_owned())
    }
}

impl From<MapRevision> for String {
    fn from(revision: MapRevision) -> Self {
        revision.to_string()
    }
}

impl TryFrom<String> for MapRevision {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// Where a delta begins: a revision, `git:REF`, `client:NAME`, or `0` for everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum Since {
    Beginning,
    Revision(MapRevision),
    Git(String),
    Client(String),
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning => f.write_str("0"),
            Self::Revision(revision) => revision.fmt(f),
            Self::Git(reference) => write!(f, "git:{reference}"),
            Self::Client(name) => write!(f, "client:{name}"),
        }
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("git", reference)) => Ok(Self::Git(reference.to_owned())),
            Some(("client", name)) => Ok(Self::Client(name.to_owned())),
            _ if text == "0" => Ok(Self::Beginning),
            _ => text.parse().map(Self::Revision).map_err(|_| EXPECTED.to_owned()),
        }
    }
}

impl From<Since> for String {
    fn from(since: Since) -> Self {
        since.to_string()
    }
}

impl TryFrom<String> for Since {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_since_is_written_as_it_is_read() {
        for text in ["0", "6af1b3c4.17", "git:HEAD~2", "git:a:b", "client:me"] {
            assert_eq!(text.parse::<Since>().unwrap().to_string(), text);
        }
        for text in ["", "yesterday", "1", "6af1b3c4", "x.1", "6af1b3c4.-1", "ref:HEAD"] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
    }
}

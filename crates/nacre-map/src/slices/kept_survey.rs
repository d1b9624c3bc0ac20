//! A survey as bytes, without where imports lead: that is kept beside it, once for all who ask.

use super::entry_kind::EntryKind;
use super::places::CodeRole;
use super::survey::{Node, Survey, SurveyState};
use crate::artifact::{Decoder, Encoder, Imports, Revision};
use crate::languages::{Language, Problem};

/// Grows whenever the meaning of any byte changes, or the same files would make another survey; an older one is made anew.
const FORMAT: u64 = 4;

const PLACES: &[CodeRole] =
    &[CodeRole::Source, CodeRole::Test, CodeRole::Aside, CodeRole::Vendored, CodeRole::Generated];

const ENTRIES: &[EntryKind] = &[
    EntryKind::Readme,
    EntryKind::Program,
    EntryKind::Library,
    EntryKind::Manifest,
    EntryKind::Script,
];

const PROBLEMS: &[Problem] =
    &[Problem::NotText, Problem::TooLarge, Problem::Broken, Problem::TooMany, Problem::Unreadable];

impl Survey {
    /// The survey as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        let SurveyState { revision, verified_ns, commit } = self.state;
        to.number(FORMAT);
        to.number(u64::from(revision.epoch));
        to.number(revision.number);
        to.time(verified_ns);
        to.word(commit);
        let languages: Vec<Language> = Language::all().collect();
        to.list(&self.nodes, |to, node| encode_node(to, node, &languages));
        to.list(&self.ranks, |to, rank| to.word(rank.to_bits()));
        to.list(&self.commits, |to, count| to.number(u64::from(*count)));
        to.into_bytes()
    }

    /// A survey that was kept, with where imports lead; `None` for bytes that are none of this format, or of other files.
    pub fn of_bytes(bytes: &[u8], imports: Imports) -> Option<Self> {
        let mut from = Decoder::new(bytes);
        let state = decode_state(&mut from)?;
        let languages: Vec<Language> = Language::all().collect();
        let nodes = from.list(|from| decode_node(from, &languages))?;
        let ranks = from.list(|from| from.word().map(f64::from_bits))?;
        let commits = from.list(Decoder::small)?;
        let is_whole = from.is_empty()
            && [imports.inside.n_files(), ranks.len()] == [nodes.len(); 2]
            && (commits.is_empty() || commits.len() == nodes.len());
        is_whole.then(|| {
            let imported = imports.inside.files();
            Self { state, nodes, imported, outside: imports.outside, ranks, commits }
        })
    }

    /// What a survey that was kept is of, without reading the rest.
    pub fn state_of_bytes(bytes: &[u8]) -> Option<SurveyState> {
        decode_state(&mut Decoder::new(bytes))
    }
}

fn decode_state(from: &mut Decoder<'_>) -> Option<SurveyState> {
    if from.number()? != FORMAT {
        return None;
    }
    let revision = Revision { epoch: from.small()?, number: from.number()? };
    Some(SurveyState { revision, verified_ns: from.time()?, commit: from.word()? })
}

fn encode_node(to: &mut Encoder, node: &Node, languages: &[Language]) {
    to.byte(code(languages, node.language));
    let roles = u8::from(node.is_test) | u8::from(node.is_public) << 1;
    to.byte(roles | code(PLACES, Some(node.place)) << 2 | code(ENTRIES, node.entry) << 5);
    to.byte(code(PROBLEMS, node.problem));
}

fn decode_node(from: &mut Decoder<'_>, languages: &[Language]) -> Option<Node> {
    let language = meaning(languages, from.byte()?)?;
    let roles = from.byte()?;
    Some(Node {
        language,
        place: meaning(PLACES, roles >> 2 & 7)??,
        entry: meaning(ENTRIES, roles >> 5)?,
        problem: meaning(PROBLEMS, from.byte()?)?,
        is_test: roles & 1 != 0,
        is_public: roles & 2 != 0,
    })
}

/// The place in a table, from 1; 0 for nothing.
fn code<T: Copy + PartialEq>(table: &[T], value: Option<T>) -> u8 {
    let at = value.and_then(|value| table.iter().position(|known| *known == value));
    at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or_default()
}

fn meaning<T: Copy>(table: &[T], code: u8) -> Option<Option<T>> {
    match usize::from(code).checked_sub(1) {
        None => Some(None),
        Some(at) => table.get(at).copied().map(Some),
    }
}

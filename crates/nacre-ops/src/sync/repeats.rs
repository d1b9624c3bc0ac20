//! Finds what several sessions of a project say: a claim that would be too weak alone, or one that
//! was made before. A session's remarks are stored in its mark, signed with the user's key, because
//! a cloned repository could contain forged marks.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use nacre_base::ContentHash;
use nacre_base::text::{inverse_frequency, shorten};
use nacre_memory::search::{Builtin, Embedder as _};
use nacre_memory::{Basis, Claim, Quote, Speaker, Status, Store};
use nacre_types::{DropReason, Signal};

use super::candidate::{Candidate, Extraction, candidate_id};
use super::extract::{Form, IsForgotten, Remark, capitalize, fault_alone, terms, without_markup};
use super::pipeline::stage::SESSIONS_TO_HOLD;
use super::pipeline::{Mark, cosine};

/// Maximum number of remarks to compare with. Sessions beyond this limit are not compared.
const MAX_KNOWN: usize = 100_000;
const MAX_QUOTES: usize = 6;
const MAX_TITLE_BYTES: usize = 120;
const MAX_REPEATED: usize = 12;

/// Number of imagined sessions that use no term of the remarks. Without them, the terms that the
/// first sessions share would count as common.
const PRIOR_SESSIONS: f32 = 50.0;
/// Equal sentences with more words were pasted.
const MAX_TYPED_WORDS: usize = 8;
const MIN_SHARED: usize = 3;
/// Minimum weight of the shared terms: two rare ones, or three that are less so.
const MIN_WEIGHT: f32 = 30.0;
/// Two remarks are the same if their words are this similar, or if their words are somewhat similar
/// and their meanings very much so.
const SAME_WORDS: f32 = 0.55;
const RELATED_WORDS: f32 = 0.4;
const SAME_MEANING: f32 = 0.7;

/// The remarks of all sessions of a project, which are read when they are first needed.
#[derive(Default)]
pub struct RemarkIndex(OnceCell<RefCell<KnownRemarks>>);

#[derive(Default)]
struct KnownRemarks {
    remarks: Vec<KnownRemark>,
    n_sessions: usize,
    /// The remarks that contain a term, in order.
    postings: HashMap<String, Vec<usize>>,
    /// The number of sessions with a remark that contains a term.
    n_holding: HashMap<String, usize>,
}

struct KnownRemark {
    remark: Remark,
    terms: BTreeSet<String>,
    meaning: OnceCell<Vec<f32>>,
}

impl RemarkIndex {
    /// Adds a candidate for each claim in the session's remarks that an earlier session makes.
    pub(super) fn add_repeated(
        &self,
        store: &Store,
        builtin: &Builtin,
        extraction: &mut Extraction,
        is_forgotten: &IsForgotten<'_>,
    ) {
        if extraction.remarks.is_empty() {
            return;
        }
        let known = self.known(store).borrow();
        let mut found: Vec<(Vec<usize>, Vec<&Remark>)> = Vec::new();
        for remark in &extraction.remarks {
            let same = known.same_as(remark, &extraction.session, builtin);
            let mut groups = found.iter_mut();
            if let Some((_, own)) = groups.find(|(all, _)| all.iter().any(|one| same.contains(one)))
            {
                own.push(remark);
            } else if !same.is_empty() {
                found.push((same, vec![remark]));
            }
        }
        let mut repeated: Vec<(usize, Candidate)> = Vec::new();
        for (same, own) in found {
            let earlier = same.iter().map(|idx| &known.remarks[*idx].remark);
            let all: Vec<&Remark> = earlier.chain(own.iter().copied()).collect();
            repeated.extend(candidate(&all));
        }
        repeated.sort_by_key(|(n_sessions, _)| std::cmp::Reverse(*n_sessions));
        let mut n_added = 0;
        for (_, candidate) in repeated {
            let is_same = |known: &&mut Candidate| {
                known
                    .quotes
                    .iter()
                    .any(|known| candidate.quotes.iter().any(|new| overlaps(known, new)))
            };
            let fault = fault_alone(&candidate, is_forgotten);
            if let Some(stated) = extraction.candidates.iter_mut().find(is_same) {
                support(stated, candidate);
            } else if fault.is_none() && n_added < MAX_REPEATED {
                n_added += 1;
                let id = candidate_id(extraction.candidates.len());
                extraction.candidates.push(Candidate { id, ..candidate });
            } else {
                let reason = fault.unwrap_or(DropReason::OverCap);
                *extraction.dropped_counts.entry(reason).or_default() += 1;
            }
        }
    }

    /// Adds the remarks of a session that was committed.
    pub(super) fn add(&self, remarks: &[Remark]) {
        if let Some(known) = self.0.get() {
            known.borrow_mut().add(remarks);
        }
    }

    fn known(&self, store: &Store) -> &RefCell<KnownRemarks> {
        self.0.get_or_init(|| {
            let mut known = KnownRemarks::default();
            for (_, mark) in Mark::read_all(store) {
                if known.remarks.len() < MAX_KNOWN && is_signed(store, &mark) {
                    known.add(&mark.remarks);
                }
            }
            RefCell::new(known)
        })
    }
}

/// Returns the signature of a session's remarks.
pub(super) fn sign(store: &Store, session: &str, remarks: &[Remark]) -> Option<String> {
    store.scope().mark(&signed_text(session, remarks)).ok()
}

fn is_signed(store: &Store, mark: &Mark) -> bool {
    let text = signed_text(&mark.session, &mark.remarks);
    mark.signature.as_ref().is_some_and(|signature| store.scope().is_marked(&text, signature))
}

fn signed_text(session: &str, remarks: &[Remark]) -> String {
    let remarks = serde_json::to_vec(remarks).unwrap_or_default();
    format!("remarks {session} {}", ContentHash::of(&remarks))
}

impl KnownRemarks {
    fn add(&mut self, remarks: &[Remark]) {
        let mut in_session = BTreeSet::new();
        for remark in remarks {
            let terms = terms(&remark.claim);
            for term in &terms {
                self.postings.entry(term.clone()).or_default().push(self.remarks.len());
            }
            in_session.extend(terms.iter().cloned());
            let meaning = OnceCell::new();
            self.remarks.push(KnownRemark { remark: remark.clone(), terms, meaning });
        }
        for term in in_session {
            *self.n_holding.entry(term).or_default() += 1;
        }
        self.n_sessions += 1;
    }

    fn weight(&self, term: &str) -> f32 {
        let n_holding = self.n_holding.get(term).copied().unwrap_or_default() as f32;
        let n_sessions = self.n_sessions as f32 + PRIOR_SESSIONS;
        inverse_frequency(n_sessions, n_holding).powi(2)
    }

    /// Returns the remarks of other sessions that make the same claim, at most one for each.
    fn same_as(&self, remark: &Remark, session: &str, builtin: &Builtin) -> Vec<usize> {
        let own = terms(&remark.claim);
        let mut shared: BTreeMap<usize, (usize, f32)> = BTreeMap::new();
        for term in &own {
            let weight = self.weight(term);
            for idx in self.postings.get(term).into_iter().flatten() {
                let (n_shared, sum) = shared.entry(*idx).or_default();
                (*n_shared, *sum) = (*n_shared + 1, *sum + weight);
            }
        }
        let all =
            |terms: &BTreeSet<String>| terms.iter().map(|term| self.weight(term)).sum::<f32>();
        let (size, meaning) = (all(&own), OnceCell::new());
        let mut found: Vec<usize> = Vec::new();
        for (idx, (n_shared, weight)) in shared {
            let KnownRemark { remark: known, terms, .. } = &self.remarks[idx];
            if n_shared < MIN_SHARED || weight < MIN_WEIGHT || !may_match(remark, known, session) {
                continue;
            }
            let likeness = weight / (size * all(terms)).sqrt();
            let means_same = || {
                let of = |text: &str| builtin.embed(&[text]).ok().and_then(|mut all| all.pop());
                let own = meaning.get_or_init(|| of(&remark.claim).unwrap_or_default());
                let known =
                    self.remarks[idx].meaning.get_or_init(|| of(&known.claim).unwrap_or_default());
                cosine(own, known) >= SAME_MEANING
            };
            let is_other =
                |one: &usize| session_of(&self.remarks[*one].remark) != session_of(known);
            if (likeness >= SAME_WORDS || (likeness >= RELATED_WORDS && means_same()))
                && found.iter().all(is_other)
                && found.len() + 1 < MAX_QUOTES
            {
                found.push(idx);
            }
        }
        found
    }
}

/// Returns whether two remarks can be a repetition. A copied session or message is none.
fn may_match(remark: &Remark, known: &Remark, session: &str) -> bool {
    let is_copied = remark.message != 0 && remark.message == known.message;
    let is_pasted = remark.basis == Basis::Stated
        && remark.claim == known.claim
        && remark.claim.split_whitespace().count() > MAX_TYPED_WORDS;
    let is_event_copied =
        !remark.quotes[0].at.is_empty() && remark.quotes[0].at == known.quotes[0].at;
    session_of(known) != session
        && !is_copied
        && !is_pasted
        && !is_event_copied
        && remark.command.is_some() == known.command.is_some()
}

fn session_of(remark: &Remark) -> &str {
    remark.quotes[0].place.rsplit_once(':').map_or("", |(session, _)| session)
}

/// Creates a candidate from the remarks of several sessions, and counts these. Returns `None` if no
/// remark can be understood on its own.
fn candidate(remarks: &[&Remark]) -> Option<(usize, Candidate)> {
    let persons: Vec<&Remark> =
        remarks.iter().copied().filter(|remark| remark.basis == Basis::Stated).collect();
    let sessions_of = |remarks: &[&Remark]| {
        remarks.iter().map(|remark| session_of(remark).to_owned()).collect::<BTreeSet<_>>().len()
    };
    // What the user said twice does not depend on what agents say.
    let is_persons = sessions_of(&persons) > 1;
    let remarks = if is_persons { persons.as_slice() } else { remarks };
    let n_sessions = sessions_of(remarks);
    let is_short = |remark: &Remark| remark.claim.len() <= MAX_TITLE_BYTES;
    let clearest = remarks.iter().rev().max_by_key(|remark| (remark.form, is_short(remark)))?;
    let mut quotes: Vec<Quote> = remarks.iter().flat_map(|remark| remark.quotes.clone()).collect();
    quotes.dedup();
    quotes.truncate(MAX_QUOTES);
    let explanation = quotes.iter().find(|quote| quote.speaker == Speaker::Assistant);
    let claim = match (&clearest.command, explanation) {
        (Some(_), Some(explanation)) => without_markup(&explanation.text),
        (Some(command), None) => format!("{command} reports: {}", clearest.claim),
        (None, _) if clearest.form == Form::Fragment => return None,
        (None, _) => clearest.claim.clone(),
    };
    let said = quotes.iter().map(|quote| format!("- {}", quote.text.trim()));
    let said = said.collect::<Vec<String>>().join("\n");
    let body = format!("{claim}\n\nIn {n_sessions} sessions:\n\n{said}");
    let is_sure = clearest.form == Form::Rule
        || n_sessions >= SESSIONS_TO_HOLD
        || (clearest.form == Form::Statement && clearest.basis == Basis::Found);
    let candidate = Candidate {
        id: candidate_id(0),
        claim: Claim::Learning(clearest.kind),
        title: capitalize(&shorten(&claim, MAX_TITLE_BYTES)),
        body,
        tags: Vec::new(),
        applies: Vec::new(),
        confidence: if clearest.basis == Basis::Stated { 0.8 } else { 0.65 },
        basis: clearest.basis,
        status: if is_sure { Status::Active } else { Status::Candidate },
        signal: if clearest.basis == Basis::Stated { Signal::Convention } else { Signal::Failure },
        quotes,
        is_repeated: false,
    };
    Some((n_sessions, candidate))
}

fn overlaps(known: &Quote, new: &Quote) -> bool {
    let is_part = known.text.contains(&new.text) || new.text.contains(&known.text);
    known.place == new.place && is_part
}

/// Adds the quotes of earlier sessions to a candidate that was found in this session alone.
fn support(stated: &mut Candidate, repeated: Candidate) {
    let is_new = |quote: &Quote| !stated.quotes.iter().any(|known| overlaps(known, quote));
    let earlier: Vec<Quote> = repeated.quotes.into_iter().filter(is_new).collect();
    stated.quotes.splice(0..0, earlier);
    stated.quotes.truncate(MAX_QUOTES);
    stated.status = Status::Active;
}

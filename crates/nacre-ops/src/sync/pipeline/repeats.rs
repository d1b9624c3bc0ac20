//! Finds what several sessions of a project say: a claim that would be too weak alone, or one that
//! was made before. A session's remarks are stored in its mark, signed with the user's key, because
//! a cloned repository could contain forged marks.

use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use nacre_base::ContentHash;
use nacre_base::text::{inverse_frequency, shorten};
use nacre_memory::search::{Builtin, cosine};
use nacre_memory::{Basis, Claim, Profile, Quote, Status, Store, may_repeat};
use nacre_types::{DropReason, Signal};

use super::Mark;
use crate::sync::candidate::{Candidate, Extraction, Form, Remark, candidate_id};
use crate::sync::extract::{A_CHECK, IsForgotten, capitalize, fault_alone, terms};

/// Number of sessions that must repeat a suspected claim before it becomes active.
pub(crate) const SESSIONS_TO_HOLD: usize = 3;

/// Maximum number of remarks to compare with. Sessions beyond this limit are not compared.
const MAX_KNOWN: usize = 50_000;
const MAX_QUOTES: usize = 6;
const MAX_TITLE_BYTES: usize = 120;
/// Maximum number of repeated claims to take from one session.
const MAX_REPEATED: usize = 12;

/// Number of imagined remarks that share no term with others. Without them, the terms that the
/// first sessions share would count as common.
const PRIOR_REMARKS: f32 = 500.0;
/// Equal sentences with more words were pasted.
const MAX_TYPED_WORDS: usize = 8;
const MIN_SHARED: usize = 3;
/// Minimum weight of the shared terms: two rare ones, or several that are less so.
const MIN_WEIGHT: f32 = 60.0;
/// Two remarks are the same if their words are this similar, or if their words are somewhat similar
/// and their meanings very much so.
const SAME_WORDS: f32 = 0.55;
const RELATED_WORDS: f32 = 0.45;
const SAME_MEANING: f32 = 0.7;

/// The remarks of all sessions of a project, which are read when they are first needed.
#[derive(Default)]
pub struct RemarkIndex(OnceCell<RefCell<KnownRemarks>>);

#[derive(Default)]
struct KnownRemarks {
    remarks: Vec<(Remark, BTreeSet<String>)>,
    /// The remarks that contain a term, in order.
    postings: HashMap<String, Vec<usize>>,
}

impl RemarkIndex {
    /// Adds a candidate for each claim in the session's remarks that an earlier session makes.
    pub(super) fn add_repeated(
        &self,
        store: &Store,
        extraction: &mut Extraction,
        is_forgotten: &IsForgotten<'_>,
    ) {
        if extraction.remarks.is_empty() {
            return;
        }
        let known = self.known(store).borrow();
        let mut groups: Vec<(Vec<usize>, Vec<&Remark>)> = Vec::new();
        let mut all: Vec<(&Remark, Vec<usize>)> =
            extraction.remarks.iter().map(|remark| (remark, known.same_as(remark))).collect();
        known.leave_out_templates(&mut all);
        for (remark, same) in all {
            let mut all = groups.iter_mut();
            if let Some((_, own)) = all.find(|(all, _)| all.iter().any(|one| same.contains(one))) {
                own.push(remark);
            } else if !same.is_empty() {
                groups.push((same, vec![remark]));
            }
        }
        let mut n_added = 0;
        for (same, own) in groups {
            let earlier = same.iter().map(|idx| &known.remarks[*idx].0);
            let all: Vec<&Remark> = earlier.chain(own).collect();
            let Some(candidate) = candidate(&all) else { continue };
            let is_same = |stated: &&mut Candidate| {
                let mut quotes = stated.quotes.iter();
                let is_quoted =
                    quotes.any(|one| candidate.quotes.iter().any(|quote| overlaps(one, quote)));
                is_quoted || stated.title == candidate.title
            };
            let is_full = (n_added == MAX_REPEATED).then_some(DropReason::OverCap);
            let id = candidate_id(extraction.candidates.len());
            if let Some(stated) = extraction.candidates.iter_mut().find(is_same) {
                support(stated, &candidate);
            } else if let Some(fault) = fault_alone(&candidate, is_forgotten).or(is_full) {
                *extraction.dropped_counts.entry(fault).or_default() += 1;
            } else {
                n_added += 1;
                extraction.candidates.push(Candidate { id, ..candidate });
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
            for mark in Mark::read_all(store) {
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
        for remark in remarks {
            let terms = terms(&remark.claim);
            for term in &terms {
                self.postings.entry(term.clone()).or_default().push(self.remarks.len());
            }
            self.remarks.push((remark.clone(), terms));
        }
    }

    fn weight<'t>(&self, terms: impl Iterator<Item = &'t String>) -> f32 {
        let n_remarks = self.remarks.len() as f32 + PRIOR_REMARKS;
        let weigh = |term: &String| {
            let n_holding = self.postings.get(term).map_or(0, Vec::len);
            inverse_frequency(n_remarks, n_holding as f32).powi(2)
        };
        terms.map(weigh).sum()
    }

    /// Removes the matches between messages that have several sentences in common, because a program
    /// wrote them.
    fn leave_out_templates(&self, all: &mut [(&Remark, Vec<usize>)]) {
        let mut n_equal: HashMap<(u64, u64), usize> = HashMap::new();
        for (remark, same) in &*all {
            for known in same.iter().map(|idx| &self.remarks[*idx].0) {
                if remark.claim == known.claim && remark.message != 0 {
                    *n_equal.entry((remark.message, known.message)).or_default() += 1;
                }
            }
        }
        for (remark, same) in all {
            same.retain(|idx| {
                let messages = (remark.message, self.remarks[*idx].0.message);
                n_equal.get(&messages).is_none_or(|n_equal| *n_equal < 2)
            });
        }
    }

    /// Returns the remarks of other sessions that make the same claim, at most one for each.
    fn same_as(&self, remark: &Remark) -> Vec<usize> {
        let own = terms(&remark.claim);
        let near = own.iter().filter_map(|term| self.postings.get(term)).flatten();
        let near: BTreeSet<usize> = near.copied().collect();
        let own_weight = self.weight(own.iter());
        let own_vector = LazyCell::new(|| Builtin::shipped().embed(&remark.claim));
        let mut found: Vec<usize> = Vec::new();
        for idx in near {
            let (known, terms) = &self.remarks[idx];
            let is_other = |one: &usize| session_of(&self.remarks[*one].0) != session_of(known);
            let is_near = own.intersection(terms).count() >= MIN_SHARED;
            if !is_near || !may_match(remark, known) || !found.iter().all(is_other) {
                continue;
            }
            let shared = self.weight(own.intersection(terms));
            let likeness = shared / (own_weight * self.weight(terms.iter())).sqrt();
            let is_related = shared >= MIN_WEIGHT && likeness >= RELATED_WORDS;
            let means_same =
                || cosine(&own_vector, &Builtin::shipped().embed(&known.claim)) >= SAME_MEANING;
            if is_related && (likeness >= SAME_WORDS || means_same()) {
                found.push(idx);
            }
        }
        // After a restart, the remarks are known in another order.
        found.sort_by_key(|idx| {
            let quote = &self.remarks[*idx].0.quotes[0];
            (&quote.at, &quote.place)
        });
        found.truncate(MAX_QUOTES - 1);
        found
    }
}

/// Returns whether two remarks can be a repetition. A copied session or message is none, and two
/// rules that differ only in a name or a number are two rules.
fn may_match(remark: &Remark, known: &Remark) -> bool {
    let (own, other) = (&remark.quotes[0], &known.quotes[0]);
    let n_words = remark.claim.split_whitespace().count();
    let is_pasted =
        remark.basis == Basis::Stated && remark.claim == known.claim && n_words > MAX_TYPED_WORDS;
    let claimed = |remark: &Remark| Profile::of(&remark.claim, "");
    let is_copied = remark.message != 0 && remark.message == known.message;
    session_of(known) != session_of(remark)
        && (own.at.is_empty() || own.at != other.at)
        && remark.command.is_some() == known.command.is_some()
        && !is_copied
        && !is_pasted
        && (remark.basis != Basis::Stated || may_repeat(&claimed(remark), &claimed(known)))
}

fn session_of(remark: &Remark) -> &str {
    remark.quotes[0].place.rsplit_once(':').map_or("", |(session, _)| session)
}

fn count_sessions(remarks: &[&Remark]) -> usize {
    remarks.iter().map(|remark| session_of(remark)).collect::<BTreeSet<_>>().len()
}

/// Creates a candidate from the remarks of several sessions, or returns `None` if no remark can be
/// understood on its own.
fn candidate(remarks: &[&Remark]) -> Option<Candidate> {
    // What the user said twice does not depend on what agents say.
    let stated = remarks.iter().copied().filter(|remark| remark.basis == Basis::Stated);
    let stated: Vec<&Remark> = stated.collect();
    let remarks = if count_sessions(&stated) > 1 { &stated[..] } else { remarks };
    let n_sessions = count_sessions(remarks);
    let is_short = |remark: &Remark| remark.claim.len() <= MAX_TITLE_BYTES;
    let clearest = remarks.iter().rev().max_by_key(|remark| (remark.form, is_short(remark)))?;
    let mut commands = remarks.iter().filter_map(|remark| remark.command.as_deref());
    let command = commands.clone().find(|one| *one != A_CHECK).or_else(|| commands.next());
    let mut quotes: Vec<Quote> = remarks.iter().flat_map(|remark| remark.quotes.clone()).collect();
    quotes.dedup();
    quotes.truncate(MAX_QUOTES);
    let claim = capitalize(&shorten(&clearest.claim, MAX_TITLE_BYTES));
    let (title, body) = match command {
        Some(command) => (format!("{command} {OF_REPORTS}"), format!("{claim}.")),
        None if clearest.form == Form::Fragment => return None,
        None => {
            let said = quotes.iter().map(|quote| format!("- {}", quote.text.trim()));
            let said = said.collect::<Vec<String>>().join("\n");
            (claim, format!("{}\n\nIn {n_sessions} sessions:\n\n{said}", clearest.claim))
        }
    };
    let is_stated = clearest.basis == Basis::Stated;
    // What was asked for several times is not always wanted.
    let is_sure = command.is_some()
        || (n_sessions >= SESSIONS_TO_HOLD && clearest.form != Form::Request)
        || (clearest.form == Form::Rule && is_stated);
    Some(Candidate {
        id: candidate_id(0),
        claim: Claim::Learning(clearest.kind),
        title,
        body,
        tags: Vec::new(),
        applies: Vec::new(),
        confidence: if is_stated { 0.8 } else { 0.65 },
        basis: clearest.basis,
        status: if is_sure { Status::Active } else { Status::Candidate },
        signal: if is_stated { Signal::Convention } else { Signal::Failure },
        quotes,
        is_repeated: false,
        importance: None,
        link: None,
    })
}

fn overlaps(known: &Quote, new: &Quote) -> bool {
    let is_part = known.text.contains(&new.text) || new.text.contains(&known.text);
    known.place == new.place && is_part
}

/// Adds the quotes of earlier sessions to a candidate that was found in this session alone.
fn support(stated: &mut Candidate, repeated: &Candidate) {
    let is_new = |quote: &Quote| !stated.quotes.iter().any(|known| overlaps(known, quote));
    let earlier: Vec<Quote> =
        repeated.quotes.iter().filter(|quote| is_new(quote)).cloned().collect();
    stated.quotes.splice(0..0, earlier);
    if is_reports_title(&repeated.title) {
        stated.body = format!("{}\n\n{}", stated.body, repeated.body);
    } else {
        stated.quotes.truncate(MAX_QUOTES);
    }
    stated.status = Status::Active;
}

const OF_REPORTS: &str = "rejects the same mistakes again and again";

pub(super) fn is_reports_title(title: &str) -> bool {
    title.ends_with(OF_REPORTS)
}

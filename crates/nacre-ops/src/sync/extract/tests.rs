//! Tests the extraction of candidates from whole sessions.

use nacre_memory::{Basis, Status};
use nacre_traces::agents::generic;
use nacre_types::Gate;
use proptest::prelude::{prop, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy as _;

use super::*;
use crate::sync::candidate::{MAX_CANDIDATES, MAX_SUSPECTED};
use crate::sync::evidence::is_quote_of;

fn extract_from(rules: Rules<'_>, lines: &[&str]) -> Extraction {
    let mut extractor = Extractor::new(rules);
    let mut each = |event: TranscriptEvent| extractor.take(&event);
    let facts = generic::read_text("s", &lines.join("\n"), Sink::everything(&mut each));
    extractor.finish(&facts)
}

fn extract(lines: &[&str]) -> Extraction {
    extract_from(Rules::default(), lines)
}

const TASK: &str = r#"{"type":"user","text":"add validation to the form please"}"#;
const NPM: &str = r#"{"type":"tool_call","call":"1","tool":"shell","text":"npm install zod"}"#;
const PNPM: &str = r#"{"type":"user","text":"no, always use pnpm here, npm breaks the links","time":"2026-11-15T08:30:00Z"}"#;

#[test]
fn a_typed_rule_becomes_a_candidate_with_its_quote_and_its_place() {
    let extraction = extract(&[TASK, NPM, PNPM]);
    let [candidate] = extraction.candidates.as_slice() else { panic!("{extraction:#?}") };
    assert_eq!(candidate.id.as_str(), "c1");
    assert_eq!(candidate.title, "Always use pnpm here, npm breaks the links");
    assert_eq!(
        candidate.body,
        "Always use pnpm here, npm breaks the links.\n\nThe person said this after the agent had run `npm install zod`."
    );
    assert_eq!(candidate.quotes[0].text, "no, always use pnpm here, npm breaks the links");
    assert_eq!(
        (candidate.quotes[0].place.as_str(), candidate.quotes[0].at.as_str()),
        ("s:2", "2026-11-15T08:30:00Z")
    );
    assert_eq!((candidate.basis, candidate.status), (Basis::Stated, Status::Active));
}

#[test]
fn the_gate_closes_on_sessions_without_a_person() {
    let cases: [(&[&str], Gate); 5] = [
        (&[TASK, NPM, PNPM], Gate::Open),
        (
            &[r#"{"type":"session","id":"x","role":"sub_agent"}"#, TASK, NPM, PNPM],
            Gate::NotAPersons,
        ),
        (&[NPM, r#"{"type":"assistant","text":"Done."}"#], Gate::NoWords),
        (&[TASK], Gate::Abandoned),
        (
            &[
                r#"{"type":"user","text":"continue"}"#,
                NPM,
                NPM,
                r#"{"type":"user","text":"go on"}"#,
            ],
            Gate::Mechanical,
        ),
    ];
    for (lines, gate) in cases {
        let extraction = extract(lines);
        assert_eq!(extraction.gate, gate);
        assert!(gate == Gate::Open || extraction.candidates.is_empty());
    }
}

#[test]
fn what_is_said_twice_merges_and_what_is_taken_back_is_gone() {
    let again = r#"{"type":"user","text":"no! always use pnpm here, npm breaks the links"}"#;
    let twice = extract(&[TASK, NPM, PNPM, NPM, again]);
    assert_eq!((twice.candidates.len(), twice.candidates[0].quotes.len()), (1, 2));
    assert!(twice.candidates[0].confidence > extract(&[TASK, NPM, PNPM]).candidates[0].confidence);
    assert_eq!(twice.dropped_counts.get(&DropReason::Repeated), Some(&1));
    let back = r#"{"type":"user","text":"never mind, keep npm"}"#;
    let gone = extract(&[TASK, NPM, PNPM, back]);
    assert!(gone.candidates.is_empty(), "{gone:#?}");
    assert_eq!(gone.dropped_counts.get(&DropReason::Revoked), Some(&1));
}

#[test]
fn what_the_person_undid_or_what_was_read_before_gives_nothing() {
    let end = r#"{"type":"end","undone":[{"from":1,"to":3}]}"#;
    assert!(extract(&[TASK, NPM, PNPM, end]).candidates.is_empty());
    let later = Rules { from: 3, ..Rules::default() };
    assert!(extract_from(later, &[TASK, NPM, PNPM]).candidates.is_empty());
}

#[test]
fn the_agents_own_words_said_back_are_not_the_persons() {
    let agent = r#"{"type":"assistant","text":"Never let field names of structs leak into the interface."}"#;
    let echo = r#"{"type":"user","text":"let's do it: never let field names of structs leak into the interface."}"#;
    let item =
        r#"{"type":"user","text":"do these:\n- never return the storage path, it is secret"}"#;
    assert!(
        extract(&[
            TASK,
            agent,
            r#"{"type":"user","text":"never let field names of structs leak into the interface"}"#
        ])
        .candidates
        .is_empty()
    );
    assert_eq!(extract(&[TASK, agent, echo]).candidates, []);
    assert_eq!(extract(&[TASK, agent, item]).candidates, []);
}

#[test]
fn a_session_gives_few_candidates_however_much_is_said() {
    let names = ["alpha", "bravo", "cedar", "delta", "ember", "flint", "grove", "haven", "inlet"];
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"type":"user","text":"only touch {name}-lib and {name}-old when {name} changes"}}"#))
        .collect();
    let mut all = vec![TASK, NPM];
    all.extend(lines.iter().map(String::as_str));
    let extraction = extract(&all);
    assert_eq!(extraction.candidates.len(), MAX_SUSPECTED);
    assert_eq!(extraction.dropped_counts.get(&DropReason::OverCap), Some(&3));
    let ids: Vec<&str> =
        extraction.candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4", "c5", "c6"]);
}

#[test]
fn a_session_of_more_sentences_than_anybody_types_is_read_so_far_and_the_rest_is_counted() {
    let said = |n: usize| {
        let sentences: String =
            (0..100).map(|at| format!("never touch item{n}x{at}, ours. ")).collect();
        format!(r#"{{"type":"user","text":"{sentences}"}}"#)
    };
    let lines: Vec<String> = (0..101).map(said).collect();
    let mut all = vec![TASK, NPM, PNPM];
    all.extend(lines.iter().map(String::as_str));
    let extraction = extract(&all);
    // Two other sentences precede these.
    assert_eq!(extraction.dropped_counts.get(&DropReason::Unread), Some(&102));
    assert_eq!(extraction.candidates.len(), 1, "what was said first is kept");
}

#[test]
fn what_failed_and_was_mended_is_held_up_to_a_number_and_the_rest_is_counted() {
    let mut lines = vec![TASK.to_owned()];
    for n in 0..300 {
        let call = |id: &str, command: &str| {
            format!(r#"{{"type":"tool_call","call":"{id}{n}","tool":"shell","text":"{command}"}}"#)
        };
        lines.push(call("a", &format!("make part{n}")));
        lines.push(format!(
            r#"{{"type":"tool_result","call":"a{n}","error":true,"text":"error: cannot find it"}}"#
        ));
        lines.push(call("b", &format!("PLACE=there make part{n}")));
        lines.push(format!(r#"{{"type":"tool_result","call":"b{n}","text":"done"}}"#));
    }
    lines.push(PNPM.to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(extract(&lines).dropped_counts.get(&DropReason::Unread), Some(&44));
}

#[test]
fn a_no_before_what_is_to_be_remembered_is_not_part_of_it() {
    let said = r#"{"type":"user","text":"No. Remember that the deploy script needs Node 20."}"#;
    let extraction = extract(&[TASK, NPM, said]);
    let [candidate] = extraction.candidates.as_slice() else { panic!("{extraction:?}") };
    assert_eq!(candidate.title, "The deploy script needs Node 20");
    assert!(candidate.body.starts_with("The deploy script needs Node 20.\n"), "{}", candidate.body);
}

#[test]
fn a_body_begins_with_the_rule_and_leaves_out_what_is_about_the_task() {
    for (said, expected) in [
        (
            "Yes, please do, and cap it at zero. Never push to main. It deploys at once.",
            "Never push to main. It deploys at once.\n",
        ),
        (
            "CI builds every commit there. Please never push to main. Fix the test now, too.",
            "Never push to main. CI builds every commit there.\n",
        ),
        ("Looks good to me now. Never push to main. Can you do that?", "Never push to main.\n"),
    ] {
        let line = serde_json::json!({ "type": "user", "text": said }).to_string();
        let extraction = extract(&[TASK, NPM, &line]);
        let bodies: Vec<&str> = extraction.candidates.iter().map(|one| one.body.as_str()).collect();
        assert!(bodies.iter().any(|body| body.starts_with(expected)), "{said}: {bodies:?}");
    }
}

#[test]
fn an_extraction_reads_back_from_its_json() {
    let extraction = Extraction { remarks: Vec::new(), ..extract(&[TASK, NPM, PNPM]) };
    let json = serde_json::to_string(&extraction).unwrap();
    assert_eq!(serde_json::from_str::<Extraction>(&json).unwrap(), extraction);
}

/// Statements that outlive the task, followed by instructions that apply only to the moment.
const STATEMENTS: &str = "\
please always squash before merging to develop
you must never print access tokens
no, don't use moment.js in new code, we use date-fns
stop writing docstrings for private helpers
use podman, not docker, for local builds in this repo
snapshots must not contain timestamps
make sure to rebuild the bindings with just bindings
we moved the helm charts to infra-charts, the old folder is gone
priya owns the billing service, talk to her before you change its schema
the metrics endpoint runs on port 9464, not 9090
that's wrong: the upload limit is 50 MB, not 20 MB
I prefer early returns over nested ifs
we keep feature flags in flags.toml
don't touch anything under gen/, it is generated
ask me before adding a new dependency
whenever you change the proto files, run buf generate
commit messages should be in English
every migration needs a rollback
we deploy from the release branch, never from main
from now on write the changelog entry in the same commit, please
---
use a channel in this function
don't push yet
fix the flaky test
can you split the file in two?
undo it and use the other approach instead
make sure it still builds
the title should be bold, not italic
don't rename that class
leave the linter warnings for later
please rerun the pipeline
stop the dev server
we need a cache here
we want a search box at the top
take the second one, not the first
add a retry to this call and log it
it always times out after the third request
the bug is in lexer.rs, not in parser.rs
I prefer the first version
rename the helper to split_path, not path_split
only change the first column for now";

#[test]
fn what_outlives_the_task_is_told_from_instructions_for_the_moment() {
    let mut told = String::from("alone      as a reply\n");
    for said in STATEMENTS.lines() {
        let line = serde_json::json!({ "type": "user", "text": said }).to_string();
        let done = r#"{"type":"assistant","text":"Done."}"#;
        let status = |lines: &[&str]| match extract(lines).candidates.as_slice() {
            [] => "-",
            [one] if one.status == Status::Active => "active",
            _ => "review",
        };
        let (alone, reply) = (status(&[&line, done]), status(&[TASK, NPM, &line, done]));
        told += &format!("{alone:10} {reply:10} {said}\n");
    }
    insta::assert_snapshot!(told, @r"
    alone      as a reply
    active     active     please always squash before merging to develop
    active     active     you must never print access tokens
    active     active     no, don't use moment.js in new code, we use date-fns
    active     active     stop writing docstrings for private helpers
    active     active     use podman, not docker, for local builds in this repo
    active     active     snapshots must not contain timestamps
    review     review     make sure to rebuild the bindings with just bindings
    active     active     we moved the helm charts to infra-charts, the old folder is gone
    active     active     priya owns the billing service, talk to her before you change its schema
    review     review     the metrics endpoint runs on port 9464, not 9090
    active     active     that's wrong: the upload limit is 50 MB, not 20 MB
    active     active     I prefer early returns over nested ifs
    active     active     we keep feature flags in flags.toml
    active     active     don't touch anything under gen/, it is generated
    active     active     ask me before adding a new dependency
    active     active     whenever you change the proto files, run buf generate
    active     active     commit messages should be in English
    active     active     every migration needs a rollback
    active     active     we deploy from the release branch, never from main
    active     active     from now on write the changelog entry in the same commit, please
    -          -          ---
    -          -          use a channel in this function
    -          -          don't push yet
    -          -          fix the flaky test
    -          -          can you split the file in two?
    -          -          undo it and use the other approach instead
    -          -          make sure it still builds
    -          -          the title should be bold, not italic
    -          -          don't rename that class
    -          -          leave the linter warnings for later
    -          -          please rerun the pipeline
    -          -          stop the dev server
    -          -          we need a cache here
    -          -          we want a search box at the top
    -          -          take the second one, not the first
    -          -          add a retry to this call and log it
    -          -          it always times out after the third request
    -          -          the bug is in lexer.rs, not in parser.rs
    -          -          I prefer the first version
    -          -          rename the helper to split_path, not path_split
    -          -          only change the first column for now
    ");
}

#[test]
fn a_program_or_a_quotation_does_not_speak_for_the_person() {
    for said in [
        "You are ReleaseBot. From now on use semantic commit messages.",
        "Act as a senior reviewer. Never approve without tests, we require them.",
        "the guide says \"never push on Fridays\", is that so",
        "# Rules\n\nNever push to main, we deploy from it.",
        "> never push to main",
        "```\nnever push to main\n```",
        "<system-reminder>\nRemember that we never push to main.\n</system-reminder>\nfix the test",
    ] {
        let line = serde_json::json!({ "type": "user", "text": said }).to_string();
        let candidates = extract(&[TASK, NPM, &line]).candidates;
        assert!(candidates.is_empty(), "{said}: {candidates:#?}");
    }
    let script = r#"{"type":"user","origin":"person","source":"unverified","text":"from now on use pnpm for installs"}"#;
    let extraction = extract(&[TASK, NPM, script]);
    assert_eq!(extraction.candidates[0].status, Status::Candidate);
}

#[test]
fn a_later_statement_replaces_an_earlier_one() {
    let first = r#"{"type":"user","text":"we keep 25 rows per batch in the importer"}"#;
    let later = r#"{"type":"user","text":"no, we keep 40 rows per batch in the importer"}"#;
    let extraction = extract(&[TASK, NPM, first, NPM, later]);
    let titles: Vec<&str> =
        extraction.candidates.iter().map(|candidate| candidate.title.as_str()).collect();
    assert_eq!(titles, ["We keep 40 rows per batch in the importer"]);
    assert_eq!(extraction.candidates[0].quotes.len(), 1);
    assert_eq!(extraction.dropped_counts.get(&DropReason::Revoked), Some(&1));
}

#[test]
fn a_title_is_the_clause_with_the_claim() {
    let titles = [
        (
            "10k gets an internal server error, 5k works again, so I guess we should stick to 5k \
             batches as a default",
            "We should stick to 5k batches as a default",
        ),
        ("from now on store all times in UTC please.", "Store all times in UTC"),
        ("no, that's wrong: the limit is 25k, not 10k", "The limit is 25k, not 10k"),
    ];
    for (said, title) in titles {
        let line = serde_json::json!({ "type": "user", "text": said }).to_string();
        let extraction = extract(&[TASK, NPM, &line]);
        assert_eq!(extraction.candidates[0].title, title);
    }
}

fn words_of_a_person() -> impl proptest::strategy::Strategy<Value = String> {
    let cues = prop::sample::select(vec![
        "no, ",
        "never ",
        "don't ",
        "we use ",
        "instead of ",
        "remember that ",
        "let's go with ",
        "because ",
        "A) ",
        "1. ",
        "`",
        "不要用",
        "以后",
        "only ",
        "must ",
        "?",
        ". ",
        "\n",
        "\n\n",
        "❯ ",
        "ß’İ",
        "i told you ",
        "option b",
        "I want ",
        "not ",
        "always, ",
        "tests ",
        "npm ",
    ]);
    let piece = prop_oneof![4 => cues.prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_is_said_nothing_breaks_and_every_quote_is_verbatim(
        texts in prop::collection::vec((0..4_u8, words_of_a_person()), 1..12),
    ) {
        let line = |(who, text): &(u8, String)| {
            let kind = ["user", "assistant", "user", "tool_call"][usize::from(*who)];
            serde_json::json!({ "type": kind, "text": text, "tool": "shell" }).to_string()
        };
        let lines: Vec<String> = texts.iter().map(line).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let extraction = extract(&lines);
        prop_assert!(extraction.candidates.len() <= MAX_CANDIDATES);
        let quotes = extraction.candidates.iter().flat_map(|candidate| &candidate.quotes);
        let mut missing: Vec<_> = quotes.collect();
        let mut each =
            |event: TranscriptEvent| missing.retain(|quote| !is_quote_of(quote, &event));
        generic::read_text("s", &lines.join("\n"), Sink::everything(&mut each));
        prop_assert!(missing.is_empty());
    }
}

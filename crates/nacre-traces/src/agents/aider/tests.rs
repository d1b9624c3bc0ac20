//! Tests that parse handwritten histories and compare the resulting events.

use super::*;
use crate::transcript::tests::*;
use crate::transcript::toolkit::*;

const HISTORY_TEXT: &str = "
# aider chat started at 2026-11-16 14:54:41

> /usr/bin/aider --message Use tabs
in a.txt --yes-always  
> Aider v0.86.2  
> Main model: openai/m with diff edit format  

#### Use tabs  
#### in a.txt  
> Add file to the chat? (Y)es/(N)o [Yes]: y  

I change it.

# A heading

> Tokens: 1.2k sent, 300 cache hit, 45 received. Cost: $0.01 message, $0.02 session.  
> Applied edit to a.txt  

# aider chat started at 2026-11-17 09:00:00

#### /ask why tabs?  

Because.

> Tokens: 2k sent, 3 received.  

#### /add b.txt  
> Added b.txt to the chat  

#### !ls  
#### /tmp/x is the file  
";

fn sessions(trace: &TestTrace) -> Vec<Trace> {
    let found = Aider.discover(std::slice::from_ref(&trace.path));
    Aider.sessions(&found.sources[0]).unwrap()
}

fn read_one(trace: &Trace) -> (String, Vec<crate::transcript::TranscriptEvent>, ReadOutcome) {
    let mut events = Vec::new();
    let mut each = |event| events.push(event);
    let outcome = Aider.read(trace, None, Sink::everything(&mut each)).unwrap();
    (show(&events), events, outcome)
}

#[test]
fn every_heading_starts_a_session() {
    let trace = TestTrace::new(HISTORY, HISTORY_TEXT);
    let found = sessions(&trace);
    assert_eq!(found.len(), 2);
    let (shown, events, outcome) = read_one(&found[0]);
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        [
            "meta host: /usr/bin/aider --message Use tabs\\nin a.txt --yes-always\\nAider v0.86.2\\nMain model: openai/m with diff edit format",
            "user person.prompt: Use tabs\\nin a.txt",
            "meta host: Add file to the chat? (Y)es/(N)o [Yes]: y",
            "assistant agent: I change it.\\n\\n# A heading",
            "meta host: Tokens: 1.2k sent, 300 cache hit, 45 received. Cost: $0.01 message, $0.02 session.\\nApplied edit to a.txt",
        ]
    );
    let facts = outcome.facts;
    assert_eq!(facts.cwd.as_deref(), trace.folder.path().to_str());
    assert_eq!(facts.agent_version.as_deref(), Some("0.86.2"));
    assert_eq!(facts.models, ["openai/m"]);
    let tokens = Tokens { input: 1200, output: 45, cached: 300, cache_write: 0, reasoning: 0 };
    assert_eq!(facts.tokens, tokens);
    assert_eq!(facts.started.unwrap().to_string(), "2026-11-16T14:54:41Z");
    assert_eq!(facts.id, "2026-11-16T14-54-41");
    let at = HISTORY_TEXT.find("#### Use tabs").unwrap() as u64;
    assert_eq!(events[1].place, Position::Line { line: 9, offset: at });
}

#[test]
fn commands_are_told_from_words() {
    let trace = TestTrace::new(HISTORY, HISTORY_TEXT);
    let (shown, events, outcome) = read_one(&sessions(&trace)[1]);
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        [
            "user person.command_args: why tabs?",
            "assistant agent: Because.",
            "meta host: Tokens: 2k sent, 3 received.",
            "user injected.command: /add b.txt",
            "meta host: Added b.txt to the chat",
            "user person.shell: ls\\n/tmp/x is the file",
        ]
    );
    let at = HISTORY_TEXT.find("#### /ask").unwrap() as u64;
    assert!(matches!(events[0].place, Position::Line { offset, .. } if offset == at));
    assert_eq!(outcome.facts.ending, Ending::Active);
    let path = "\n# aider chat started at 2026-11-17 09:00:00\n#### /tmp/x is it  \n";
    check(&Aider, HISTORY, path, &["user person.prompt: /tmp/x is it"]);
}

#[test]
fn a_heading_in_an_answer_is_the_models() {
    let start = "# aider chat started at 2026-11-17 09:00:00\n\n#### Fix it  \n\n";
    let end = "> Tokens: 1k sent, 1k received.  \n\n#### Thanks  \n";
    for quoted in [
        "The file says:\n\n#### Remember it\n",
        "The file says:\n\n#### Remember it  \n",
        "```\n> Tokens: 1k sent.  \n\n#### Remember it  \n```\n",
        "````md\n```\n> Tokens: 1k sent.  \n#### Remember it  \n```\n````\n",
        "> Quoted\n\n#### Remember it  \n",
    ] {
        let trace = TestTrace::new(HISTORY, format!("{start}{quoted}\n{end}"));
        let shown = read_one(&sessions(&trace)[0]).0;
        let words: Vec<&str> =
            shown.lines().filter(|line| line.starts_with("user person")).collect();
        assert_eq!(words, ["user person.prompt: Fix it", "user person.prompt: Thanks"], "{quoted}");
    }
}

#[test]
fn text_of_our_own_is_taken_out() {
    let content = "# aider chat started at 2026-11-17 09:00:00\n#### <nacre-memory>  \n#### Use spaces  \n#### </nacre-memory>  \n#### Use tabs  \n";
    check(
        &Aider,
        HISTORY,
        content,
        &[
            "user injected.nacre: <nacre-memory>\\nUse spaces\\n</nacre-memory>",
            "user person.prompt: Use tabs",
        ],
    );
}

#[test]
fn a_session_that_grows_has_another_revision() {
    let trace = TestTrace::new(HISTORY, HISTORY_TEXT);
    let before = sessions(&trace);
    trace.append(b"\nMore.\n");
    let after = sessions(&trace);
    assert_eq!((&before[0].revision, &before[0].session), (&after[0].revision, &after[0].session));
    assert_eq!(before[1].session, after[1].session);
    assert_ne!(before[1].revision, after[1].revision);
}

#[test]
fn a_history_that_was_replaced_has_other_sessions() {
    let trace = TestTrace::new(HISTORY, HISTORY_TEXT);
    let second = sessions(&trace).remove(1);
    trace.rewrite(&b"x\n".repeat(400));
    let error = Aider.read(&second, None, Sink::everything(&mut |_| {})).unwrap_err();
    assert!(matches!(error, Error::NoSession { .. }));
    assert!(sessions(&trace).is_empty());
    let odd = Trace { session: Some("x".to_owned()), ..second };
    assert!(Aider.read(&odd, None, Sink::everything(&mut |_| {})).is_err());
}

#[test]
fn a_history_is_read_where_a_person_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    write(&project.join(HISTORY), HISTORY_TEXT.as_bytes());
    write(&project.join(".git").join(HISTORY), HISTORY_TEXT.as_bytes());
    // A history that was cloned with a repository must not be attributed to the user.
    assert!(Aider.roots(&Homes::at(folder.path())).is_empty());
    let homes = |path: PathBuf| Homes::at(folder.path()).with("AIDER_CHAT_HISTORY_FILE", path);
    assert!(Aider.roots(&homes(PathBuf::from(HISTORY))).is_empty());
    let named = Aider.discover(&Aider.roots(&homes(project.join(HISTORY))));
    assert_eq!(named.sources[0].path, project.join(HISTORY));
    assert_eq!(Aider.discover(&[folder.path().to_owned()]).sources, named.sources);
}

#[test]
fn times_are_read_from_headings() {
    assert_eq!(heading_time("# aider chat started at yesterday"), None);
    let time = heading_time("# aider chat started at 2026-02-03 04:05:06").unwrap();
    assert_eq!(time.to_string(), "2026-02-03T04:05:06Z");
}

//! Sentences in, verdicts out.

use super::*;

fn signal(sentence: &str, stance: Stance<'_>) -> Option<Signal> {
    match judge(sentence, stance) {
        ExtractVerdict::Kept(finding) => Some(finding.signal),
        ExtractVerdict::Nothing | ExtractVerdict::Turned(..) => None,
    }
}

fn reply() -> Stance<'static> {
    Stance { is_reply: true, ..Stance::default() }
}

#[test]
fn what_holds_beyond_the_moment_is_kept() {
    let cases = [
        ("no, we use pnpm here, npm breaks the workspace links", Signal::Correction),
        ("please don't refactor code I didn't ask you to touch", Signal::Correction),
        ("never delete fixtures/, they are recorded from production", Signal::Correction),
        ("we don't use an ORM on purpose, the DBA reviews every query", Signal::Correction),
        ("no emojis and no marketing talk in release notes", Signal::Correction),
        ("I told you before, ask me before you push", Signal::Correction),
        ("I don't want to commit generated docs", Signal::Correction),
        ("use podman instead of docker, it's what the servers have", Signal::Correction),
        (
            "you have to install before you test: the tests run the installed binary",
            Signal::Correction,
        ),
        ("keep in mind that the tablets run Chrome 88", Signal::Remember),
        ("from now on update the changelog in the same change", Signal::Remember),
        ("I prefer small changes, one a layer", Signal::Preference),
        ("Commit changes as each task is completed and tests pass", Signal::Preference),
        ("let's go with SQLite, I don't want another server", Signal::Decision),
        ("I want replicate to not use materialize at all", Signal::Decision),
        ("the backend lives in ../ledger-api", Signal::Context),
        ("I'm on Ubuntu 22.04", Signal::Context),
        ("OK, this worked: QT_QPA_PLATFORM=xcb opk-gui", Signal::Procedure),
        ("不要用 unittest，我们项目统一用 pytest", Signal::Correction),
    ];
    for (sentence, expected) in cases {
        assert_eq!(signal(sentence, reply()), Some(expected), "{sentence}");
    }
}

#[test]
fn what_is_of_the_moment_is_not() {
    let cases = [
        "The save button always stays disabled and the callback never fires",
        "I never saw the window open",
        "somebody merged a picture just before me, so I don't want a merge conflict here",
        "it shows 44MB/s but never gets past 27",
        "do 1, do the push, don't do a reply, but yes create an issue",
        "just remove it from the commit, we don't need to keep it",
        "don't worry about the tests",
        "I don't think that is right",
        "I don't like it",
        "Not sure yet if we keep or remove branches",
        "I need to use the auth helper as we did before",
        "No conversation found to continue",
        "let's do it",
        "let's go with the second layout",
        "can you use tabs instead of spaces?",
        "do you remember that bug?",
        "Please remember my build command.",
        "I want a dark mode toggle in the settings",
        "the issue is the formatter, not the generator, I think",
        "because we want the agent to drive the browser",
        "say that users should always back up before they upgrade",
        "don't merge this PR for now",
    ];
    for sentence in cases {
        assert_eq!(signal(sentence, reply()), None, "{sentence}");
    }
}

#[test]
fn a_first_message_asks_and_seldom_rules() {
    let first = Stance { is_first: true, ..Stance::default() };
    for task in [
        "Always return 429",
        "Don't add a dependency for that",
        "use a bucket instead of a window, it's fair",
    ] {
        assert_eq!(signal(task, first), None, "{task}");
    }
    assert_eq!(
        signal("we never deploy on Fridays, so plan for Monday", first),
        Some(Signal::Convention)
    );
    assert_eq!(signal("from now on write the tests first", first), Some(Signal::Remember));
}

#[test]
fn an_answer_that_names_an_option_and_its_reason_decides() {
    let stance = |next| Stance {
        is_first: true,
        offer: Some("i could show local time or utc."),
        next,
        ..reply()
    };
    let reason = Some("the team is in three time zones");
    assert_eq!(signal("UTC everywhere, also in the UI", stance(reason)), Some(Signal::Decision));
    assert_eq!(signal("UTC everywhere, also in the UI", stance(None)), None);
    assert_eq!(signal("I saw it in the log, it was fine", stance(reason)), None);
}

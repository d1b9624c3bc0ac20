//! `nacre run`

use std::fs;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use nacre_base::fs::{Access, WriteScope};
use nacre_engine::record::state::{State, TaskStore as _};
use nacre_engine::record::{CancelledBy, TaskId, TaskState};

use crate::home::{NOW, TestHome, interrupt};

/// Creates a repository with one file, and a script next to it.
fn home(script: &str) -> TestHome {
    let home = TestHome::empty();
    fs::create_dir(home.work().join("src")).unwrap();
    fs::write(home.work().join("src/lock.rs"), "//! Locks.\n\nfn lock() {\n    wait();\n}\n")
        .unwrap();
    fs::write(home.root().join("script.toml"), script).unwrap();
    home
}

const FOUND: &str = r#"
[[turns]]
expect = { role = "explorer", tools = ["file_read", "file_search", "answer"], last_contains = ["Where"] }
say = "Let me look."
calls = [{ name = "file_search", arguments = { pattern = "fn lock" } }, { name = "file_read", arguments = { path = "src/lock.rs" } }]
usage = { input = 100, output = 20 }

[[turns]]
expect = { last_contains = ["fn lock", "wait();"] }
calls = [{ name = "answer", arguments = { answer = "In `lock`, which waits [1].", citations = [{ file = "src/lock.rs", first_line = 3, last_line = 4, quote = "fn lock() {" }] } }]
usage = { input = 200, output = 30 }
"#;

#[test]
fn the_explorer_answers_with_places_that_are_there() {
    let home = home(FOUND);
    let args = ["run", "--scripted", "../script.toml", "Where is the lock?"];
    assert_snapshot!(home.run(&args), @"
    In `lock`, which waits [1].

    src/lock.rs:3-4  fn lock() {
    ");
    let (code, output) = home.json(&args);
    assert_eq!((code, &output["state"]), (0, &serde_json::json!("completed(done)")));
    assert_eq!(output["citations"][0]["verified"], true);
    assert_eq!(
        (&output["verified"], &output["not_verified"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert_eq!((&output["steps"], &output["tool_calls"]), (&2.into(), &2.into()));
    assert_eq!(output["tokens"], serde_json::json!({ "input": 300, "output": 50 }));
    assert!(output["task"].as_str().unwrap().starts_with("task_"));
}

#[test]
fn a_place_that_is_not_there_is_marked() {
    let wrong = "[[turns]]\ncalls = [{ name = 'answer', arguments = { answer = 'In `unlock`.', citations = [{ file = 'src/lock.rs', first_line = 3, last_line = 3, quote = 'fn unlock()' }] } }]\n";
    let home = home(&wrong.repeat(3));
    assert_snapshot!(home.run(&["run", "--scripted", "../script.toml", "Where?"]), @"
    In `unlock`. [not verified]

    src/lock.rs:3  not verified: the quote does not occur in `src/lock.rs`
    [exit 3]
    ");
}

/// A genuine quote is not evidence if the model never saw it, or if the sentence claims something
/// else.
#[test]
fn a_sentence_that_its_lines_do_not_prove_is_marked() {
    let answer = |text: &str, cited: &str| {
        let turn = format!(
            "[[turns]]\ncalls = [{{ name = 'answer', arguments = {{ answer = '{text}', citations = [{cited}] }} }}]\n"
        );
        let read = "[[turns]]\ncalls = [{ name = 'file_read', arguments = { path = 'src/lock.rs', n_lines = 4 } }]\n";
        let home = home(&format!("{read}{}", turn.repeat(3)));
        let (code, output) = home.json(&["run", "--scripted", "../script.toml", "Where?"]);
        (code, output["answer"].as_str().unwrap().to_owned())
    };
    let lock = "{ file = 'src/lock.rs', first_line = 3, last_line = 4, quote = 'fn lock() {' }";
    let unread = "{ file = 'src/lock.rs', first_line = 3, last_line = 5, quote = 'fn lock() {' }";
    for (text, cited, expected) in [
        ("The limit is 900 ms.", "", "The limit is 900 ms. [not verified]"),
        ("`lock` waits [1].", unread, "`lock` waits [1]. [not verified]"),
        ("`lock` waits 7 times [1].", lock, "`lock` waits 7 times [1]. [not verified]"),
        ("`lock` waits [1]. It is safe.", lock, "`lock` waits [1]. It is safe. [not verified]"),
    ] {
        assert_eq!(answer(text, cited), (3, expected.to_owned()));
    }
}

#[test]
fn the_explorer_changes_nothing_whatever_it_tries() {
    let script = r#"
        [[turns]]
        calls = [{ name = "file_create", arguments = { path = "new.txt", text = "x" } }, { name = "file_read", arguments = { path = "../script.toml" } }, { name = "shell_run", arguments = { script = "touch new.txt" } }]
        [[turns]]
        say = '{"answer": "I cannot.", "citations": []}'
        [[turns]]
        say = '{"answer": "I cannot.", "citations": []}'
        [[turns]]
        say = '{"answer": "I cannot.", "citations": []}'
    "#;
    let home = home(script);
    let (code, output) = home.json(&["run", "--scripted", "../script.toml", "Make a file"]);
    assert_eq!((code, &output["answer"]), (3, &serde_json::json!("I cannot. [not verified]")));
    assert!(!home.work().join("new.txt").exists());
    assert!(!home.work().join(".nacre").exists(), "a question leaves nothing in the repository");
}

#[test]
fn what_goes_wrong_is_told_with_its_way_out() {
    let home = home("[[turns]]\nerror = { kind = 'quota' }\n");
    let failed = home.run(&["run", "--scripted", "../script.toml", "Where?"]);
    let failed = failed.lines().filter(|line| !line.contains("task_")).collect::<Vec<_>>();
    assert_snapshot!(failed.join("\n"), @"
    Error: Cannot get an answer from `scripted`: the account has no credit left
    Hint: `nacre model` lists the models, their addresses and keys
    [exit 1]
    ");
    let (code, output) = home.json(&["run", "--scripted", "../script.toml", "Where?"]);
    assert_eq!((code, &output["state"]), (1, &serde_json::json!("failed(model)")));
    assert_snapshot!(home.run(&["run", "Where?"]), @"
    Error: No model is set for `explorer`
    Hint: nacre config set roles.default.model ollama/qwen3
    [exit 1]
    ");
    assert_snapshot!(home.run(&["run", " "]), @"
    Error: The question is empty
    [exit 2]
    ");
    assert_snapshot!(home.run(&["run", "--scripted", "gone.toml", "Where?"]), @"
    Error: Cannot read the script `$HOME/work/gone.toml`
    Caused by: No such file or directory (os error 2)
    [exit 1]
    ");
}

/// Waits until the process is running a task.
fn running(home: &TestHome, child: &mut Child) -> (State, TaskId) {
    loop {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before anybody stopped it");
        let folder = home.root().join(".nacre");
        let scope = WriteScope::open(&folder, Access::Private).ok();
        let state = scope.and_then(|scope| State::open_existing(&scope).unwrap());
        if let Some(state) = state
            && let Some(task) = state.tasks(1).unwrap().pop()
            && task.state == TaskState::Running
        {
            return (state, task.id);
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_another_process_cancels_ends_as_cancelled() {
    let home = home("[[turns]]\nhang = true\n");
    let args = ["run", "--json", "--scripted", "../script.toml", "Where?"];
    let mut child = home.command(&home.work(), &args).stdout(Stdio::piped()).spawn().unwrap();
    let (mut state, task) = running(&home, &mut child);
    let report = state.cancel(&task, CancelledBy::Shutdown, NOW.parse().unwrap()).unwrap();
    assert_eq!(report.asked, std::slice::from_ref(&task));
    let output = child.wait_with_output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["state"], "cancelled(shutdown)");
    assert_eq!(output.status.code(), Some(1));
    let by = CancelledBy::Shutdown;
    assert_eq!(state.task(&task).unwrap().state, TaskState::Cancelled { by });
    let events = state.events(&task, 0, 100).unwrap();
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
}

#[test]
fn a_person_cancels_a_run_of_another_terminal() {
    let home = home("[[turns]]\nhang = true\n");
    let args = ["run", "--json", "--scripted", "../script.toml", "Where?"];
    let mut child = home.command(&home.work(), &args).stdout(Stdio::piped()).spawn().unwrap();
    let (_, task) = running(&home, &mut child);
    let (code, report) = home.json(&["events", "cancel", task.as_str()]);
    assert_eq!((code, &report["asked"]), (0, &serde_json::json!([task.as_str()])));
    let output = child.wait_with_output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["state"], output.status.code()), (&"cancelled(person)".into(), Some(1)));
}

#[test]
fn ctrl_c_ends_a_run_in_order() {
    let home = home("[[turns]]\nhang = true\n");
    let args = ["run", "--scripted", "../script.toml", "Where?"];
    let mut command = home.command(&home.work(), &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (state, task) = running(&home, &mut child);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_snapshot!(home.render(&output), @"
    Error: The run was cancelled
    [exit 1]
    ");
    let by = CancelledBy::Person;
    assert_eq!(state.task(&task).unwrap().state, TaskState::Cancelled { by });
}

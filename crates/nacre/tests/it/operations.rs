//! Checks that an operation called in this process returns the same JSON report as its command.

use std::sync::Arc;
use std::time::Duration;

use nacre_ops::host::{Environment, OpenOptions};
use nacre_ops::{
    Events, Host, OpError, ask, brief, config, doctor, feedback, index, maintain, map, memory,
    model, project, queue, report, review, run, skill, status, tasks, trace,
};
use nacre_types::{ErrorReport, TraceShowRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::home::{NOW, TestHome};
use crate::sync_run::{PNPM, reading, talk};

/// Opens a host for a test home the way the program does.
pub(crate) fn host(home: &TestHome) -> Host {
    let vars = [("HOME", home.root().display().to_string()), ("NACRE_NOW", home.now())];
    let path = std::env::var("PATH").unwrap_or_default();
    let mut vars: Vec<(String, String)> =
        vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    vars.push(("PATH".to_owned(), path));
    let environment = Environment {
        vars,
        garbled_vars: Vec::new(),
        folder: home.work(),
        is_folder_gone: false,
        home: Some(home.root()),
        host: None,
        pid: std::process::id(),
        program: None,
        clock: Arc::new(|| NOW.parse().unwrap()),
        uptime: Arc::new(|| Duration::ZERO),
        random: |bytes| {
            bytes.fill(7);
            Ok(())
        },
    };
    Host::open(environment, &OpenOptions::default()).host.unwrap()
}

/// An operation whose request is JSON.
type Operation = Box<dyn Fn(&Host, Value) -> Result<Value, OpError>>;

/// Serializes a report, keeping floating-point numbers short.
fn as_json(report: &impl Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(report).unwrap()).unwrap()
}

fn plain<Q: DeserializeOwned + 'static, R: Serialize + 'static>(
    operation: fn(&Host, &Q) -> Result<R, OpError>,
) -> Operation {
    Box::new(move |host, request| {
        let request = serde_json::from_value(request).unwrap();
        operation(host, &request).map(|report| as_json(&report))
    })
}

fn told<Q: DeserializeOwned + 'static, R: Serialize + 'static>(
    operation: fn(&Host, &Q, &Events) -> Result<R, OpError>,
) -> Operation {
    Box::new(move |host, request| {
        let request = serde_json::from_value(request).unwrap();
        let report = operation(host, &request, &Events::discard());
        report.map(|report| as_json(&report))
    })
}

/// Returns the value without durations, with the test's directory replaced by `$HOME`.
fn comparable(home: &TestHome, value: &Value) -> Value {
    let text = value.to_string().replace(&*home.root().to_string_lossy(), "$HOME");
    let mut value = serde_json::from_str(&text).unwrap();
    forget_times(&mut value);
    value
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !name.ends_with("_ms") && !["ms", "duration_seconds"].contains(&name.as_str())
            });
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Creates a home with memories, a candidate, a session that was read, and some code.
fn home() -> TestHome {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    home.add("The queue is kept in SQLite", &["--body", "One file that every machine has."]);
    std::fs::write(home.work().join("queue.py"), "def push(job):\n    return job\n").unwrap();
    home.ok(&["refresh"]);
    // A file that is as old as the map is read once more.
    home.ok(&["explore"]);
    home
}

#[test]
fn what_is_read_is_the_same_both_ways() {
    let home = home();
    let id = home.json(&["memory", "search", "queue"]).1["hits"][0]["id"].clone();
    let id = id.as_str().unwrap();
    let run_id = home.json(&["runs"]).1["runs"][0]["id"].clone();
    let run_id = run_id.as_str().unwrap();
    let trace_id = home.json(&["trace"]).1["sessions"][0]["id"].clone();
    let trace_id = trace_id.as_str().unwrap();
    let explore: Operation = Box::new(|host, request| {
        let request = serde_json::from_value(request).unwrap();
        let answer = map::explore(host, &request, &Events::discard())?;
        Ok(serde_json::from_str(&answer.payload).unwrap())
    });
    let context: Operation = Box::new(|host, request| {
        let request = serde_json::from_value(request).unwrap();
        let answer = map::context(host, &request, &Events::discard())?;
        Ok(serde_json::from_str(&answer.payload).unwrap())
    });
    let search_code: Operation = Box::new(|host, request| {
        let request = serde_json::from_value(request).unwrap();
        let answer = map::search_code(host, &request, &Events::discard())?;
        Ok(serde_json::from_str(&answer.payload).unwrap())
    });
    let trace_show: Operation = plain(|host, request: &TraceShowRequest| {
        trace::show(host, request, trace::NameSource::Request)
    });
    let config_path: Operation = Box::new(|host, _| Ok(as_json(&config::path(host)?)));
    let index_status: Operation = Box::new(|host, _| Ok(as_json(&index::status(host, None)?)));
    let explain: Operation =
        Box::new(|host, _| Ok(as_json(&map::explain(host, "queue.py", &Events::discard())?)));
    let rows: Vec<(Vec<&str>, Operation, Value)> = vec![
        (vec!["status"], plain(status::status), json!({})),
        (vec!["doctor"], plain(doctor), json!({})),
        (vec!["brief"], plain(brief::brief), json!({})),
        (vec!["brief", "--task", "queue"], plain(brief::brief), json!({ "task": "queue" })),
        (vec!["ask", "which queue?"], told(ask::ask), json!({ "question": "which queue?" })),
        (vec!["memory", "list"], plain(memory::list), json!({})),
        (
            vec!["memory", "list", "--sort", "-title", "--offset", "1"],
            plain(memory::list),
            json!({ "sort": "-title", "offset": 1 }),
        ),
        (vec!["memory", "show", id], told(memory::show), json!({ "id": id })),
        (vec!["memory", "show", "none"], told(memory::show), json!({ "id": "none" })),
        (vec!["memory", "search", "queue"], plain(memory::search), json!({ "query": "queue" })),
        (vec!["memory", "related", id], told(memory::list_related), json!({ "id": id })),
        (vec!["review"], plain(review::list), json!({})),
        (vec!["config", "memory"], plain(config::show), json!({ "prefix": "memory" })),
        (vec!["config", "--path"], config_path, json!({})),
        (vec!["project"], plain(project::list), json!({})),
        (vec!["index"], index_status, json!({})),
        (vec!["queue"], plain(queue::list), json!({})),
        (vec!["trace"], plain(trace::list), json!({})),
        (vec!["trace", "--offset", "1"], plain(trace::list), json!({ "offset": 1 })),
        (vec!["trace", "show", trace_id], trace_show, json!({ "id": trace_id })),
        (vec!["trace", "search", "pnpm"], plain(trace::search), json!({ "query": "pnpm" })),
        (vec!["runs"], told(run::list), json!({})),
        (vec!["runs", run_id], plain(run::show), json!({ "id": run_id })),
        (vec!["events"], plain(tasks::list), json!({})),
        (vec!["report"], plain(report::report), json!({})),
        (vec!["model"], plain(model::list), json!({})),
        (vec!["skill"], plain(skill::list), json!({})),
        (vec!["explore"], explore, json!({ "format": "json" })),
        (vec!["context", "--task", "push"], context, json!({ "format": "json", "task": "push" })),
        (vec!["search-code", "push"], search_code, json!({ "format": "json", "query": "push" })),
        (vec!["delta"], told(map::delta), json!({})),
        (vec!["explain", "queue.py"], explain, json!({})),
        (vec!["refresh"], told(map::refresh), json!({})),
        (vec!["maintain", "--dry-run"], told(maintain::maintain), json!({ "dry_run": true })),
    ];
    for (args, operation, request) in rows {
        let (_, typed) = home.json(&args);
        let called = match operation(&host(&home), request) {
            Ok(report) => report,
            Err(error) => serde_json::to_value(ErrorReport::from(error)).unwrap(),
        };
        let (typed, called) = (comparable(&home, &typed), comparable(&home, &called));
        assert_eq!(typed, called, "nacre {}", args.join(" "));
    }
}

#[test]
fn what_is_changed_is_the_same_both_ways() {
    let (typing, calling) = (home(), home());
    let id_of = |home: &TestHome| {
        let (_, found) = home.json(&["memory", "search", "queue"]);
        found["hits"][0]["id"].as_str().unwrap().to_owned()
    };
    let id = id_of(&typing);
    assert_eq!(id, id_of(&calling));
    let rebuild: Operation =
        Box::new(|host, _| Ok(as_json(&index::rebuild(host, None, &Events::discard())?)));
    let rows: Vec<(Vec<&str>, Operation, Value)> = vec![
        (
            vec!["memory", "add", "Logs go to stderr"],
            told(memory::add),
            json!({ "title": "Logs go to stderr" }),
        ),
        (vec!["feedback", &id, "useful"], told(feedback), json!({ "id": id, "verdict": "useful" })),
        (vec!["memory", "archive", &id], told(memory::archive), json!({ "ids": [id] })),
        (vec!["memory", "restore", &id], told(memory::restore), json!({ "ids": [id] })),
        (vec!["index", "--rebuild"], rebuild, json!({})),
    ];
    for (args, operation, request) in rows {
        let (_, typed) = typing.json(&args);
        let called = operation(&host(&calling), request).unwrap();
        let (typed, called) = (comparable(&typing, &typed), comparable(&calling, &called));
        assert_eq!(typed, called, "nacre {}", args.join(" "));
    }
    let text = |home: &TestHome| home.read(&format!("memory/decisions/{id}.md"));
    assert_eq!(text(&typing), text(&calling));
}

//! Tests `--strategy` and `[limits]`: models that read sessions, and limits on what they cost.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::TestHome;
use crate::loopback::Loopback;
use crate::sync_run::{PNPM, reading, talk};

/// Starts a model that finds the sentence about pnpm and summarizes the session.
fn model() -> Loopback {
    Loopback::new(|asked| {
        if is_second_look(asked) {
            return Some(json!({ "entries": [] }).to_string());
        }
        let mut answer = answer();
        if asked.to_string().contains("session_summary") {
            answer.as_object_mut()?.remove("candidates");
        }
        Some(answer.to_string())
    })
}

fn is_second_look(asked: &Value) -> bool {
    asked.to_string().contains("second_look")
}

/// Returns how many sessions the model was asked to read, without requests that verify its
/// findings.
fn n_read(model: &Loopback) -> usize {
    model.requests().iter().filter(|asked| !is_second_look(asked)).count()
}

fn answer() -> Value {
    json!({
        "candidates": [{
            "type": "learning", "kind": "convention", "title": "Packages are installed with pnpm",
            "body": "Packages are installed with pnpm and never with npm: npm writes a second lock file.",
            "basis": "stated", "found_in": "nowhere", "importance": 2,
            "quotes": [{ "event": 2, "text": "always use pnpm here, never npm: npm writes a second lock file" }],
        }],
        "summary": {
            "title": "A health endpoint", "description": "It was added.", "intent": "A health endpoint.",
            "narrative": ["The agent wanted npm; the person wants pnpm."], "outcome": "Done.",
        },
    })
}

const LAZY: &[&str] = &["continue", "Done.", "go on", "Done again."];

fn metrics(home: &TestHome, report: &Value) -> Value {
    let folder = report["run_folder"].as_str().unwrap();
    serde_json::from_str(&home.read(&format!("{folder}/metrics.json"))).unwrap()
}

#[test]
fn with_a_model_a_session_costs_two_calls_and_a_gated_one_none() {
    let (home, model) = (reading(), model());
    model.serve(&home);
    talk(&home, "one", 1, PNPM);
    talk(&home, "two", 2, LAZY);
    let (code, value) = home.json(&["sync"]);
    assert_eq!((code, model.requests().len(), n_read(&model)), (0, 2, 1), "{value:#}");
    let report = &value["sessions"][0]["report"];
    assert_eq!(report["actions"][0]["title"], "Packages are installed with pnpm");
    let told = metrics(&home, report);
    assert_eq!(
        (&told["strategy"], &told["windows"], &told["model_calls"], &told["fallback"]),
        (&json!("windows"), &json!(1), &json!(2), &Value::Null)
    );
    assert_eq!(told["tokens"], json!({ "input": 1200, "output": 200 }));
    let gated = metrics(&home, &value["sessions"][1]["report"]);
    assert_eq!((&gated["strategy"], &gated["model_calls"]), (&json!("offline"), &json!(0)));
    let (code, again) = home.json(&["sync"]);
    assert_eq!((code, model.requests().len()), (0, 2), "nothing new costs nothing: {again:#}");
    assert!(home.run(&["doctor", "--evidence"]).contains("verified"), "the quote is where it says");
}

#[test]
fn the_transcript_goes_out_fenced_and_the_shape_is_asked_for() {
    let (home, model) = (reading(), model());
    model.serve(&home);
    talk(&home, "one", 1, PNPM);
    let (_, value) = home.json(&["sync"]);
    let asked = model.requests();
    let text = asked[0]["messages"].to_string();
    assert!(
        text.contains("<transcript-") && text.contains("[2] person: no, remember: always use pnpm"),
        "{text}"
    );
    assert!(asked[0].to_string().contains("\"pitfall\""), "the registry is in the shape");
    let folder = value["sessions"][0]["report"]["run_folder"].as_str().unwrap();
    let written: Value =
        serde_json::from_str(&home.read(&format!("{folder}/extract.json"))).unwrap();
    assert_eq!(
        (&written["strategy"], &written["candidates"][0]["signal"]),
        (&json!("windows"), &json!("model"))
    );
    assert!(home.tree("memory/summaries").contains("health-endpoint"));
    talk(&home, "two", 2, PNPM);
    home.ok(&["sync", "--strategy", "offline"]);
    assert_eq!((model.requests().len(), n_read(&model)), (2, 1), "offline asks nobody");
}

#[test]
fn a_strategy_that_needs_a_model_says_so_where_none_is_set() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    assert_snapshot!(home.run(&["sync", "--strategy", "windows"]), @"
    Error: No model is set for `extract`
    Hint: nacre config set roles.default.model ollama/qwen3
    [exit 1]
    ");
    home.ok(&["config", "set", "roles.extract.strategy", "windows"]);
    let failed = home.run(&["sync"]);
    assert!(failed.starts_with("Error: No model is set for `extract`"), "{failed}");
    home.ok(&["sync", "--strategy", "auto"]);
}

#[test]
fn a_reached_limit_pauses_model_work_and_keeps_the_queue() {
    for (key, value) in [("limits.day_tokens", "5000"), ("limits.project_tokens", "5000")] {
        let (home, model) = (reading(), model());
        model.serve(&home);
        home.ok(&["config", "set", key, value]);
        // Each call uses 700 tokens, and sessions are started only while about 4400 are left.
        for day in 1..=6 {
            talk(&home, &format!("s{day}"), day, PNPM);
        }
        let (code, told) = home.json(&["sync"]);
        let n_done = told["sessions"].as_array().unwrap().len();
        assert_eq!((code, &told["paused"][0]["limit"]), (3, &json!(key)), "{told:#}");
        assert_eq!(n_read(&model), n_done);
        assert!((1..6).contains(&n_done), "{n_done}");
        let (_, queue) = home.json(&["queue"]);
        let pending = queue.to_string().matches("\"pending\"").count();
        assert_eq!(pending, 6 - n_done, "{queue:#}");
        let shown = home.run(&["sync"]);
        assert!(shown.contains("Warning: Model work is paused: "), "{shown}");
        assert!(
            shown.contains(&format!("nacre config set {key} N")) && shown.ends_with("[exit 3]\n"),
            "{shown}"
        );
        assert_eq!(n_read(&model), n_done, "nobody was asked again");
        let (code, rest) = home.json(&["sync", "--strategy", "offline"]);
        assert_eq!((code, rest["sessions"].as_array().unwrap().len()), (0, 6 - n_done));
        let (_, status) = home.json(&["status"]);
        let used: Vec<u64> = status["spending"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["tokens"].as_u64().unwrap())
            .collect();
        assert_eq!(used, [700 * model.requests().len() as u64; 2]);
    }
}

#[test]
fn raising_the_limit_lets_the_queue_go_on() {
    let (home, model) = (reading(), model());
    model.serve(&home);
    home.ok(&["config", "set", "limits.day_tokens", "5000"]);
    for day in 1..=5 {
        talk(&home, &format!("s{day}"), day, PNPM);
    }
    assert_eq!(home.json(&["sync"]).0, 3);
    home.ok(&["config", "set", "limits.day_tokens", "5000000"]);
    assert_eq!(home.json(&["sync"]).0, 0);
    assert_eq!(n_read(&model), 5, "each session was read once");
}

#[test]
fn the_limit_of_a_session_leaves_it_to_the_rules_and_says_so() {
    let (home, model) = (reading(), model());
    model.serve(&home);
    home.ok(&["config", "set", "limits.session_tokens", "100"]);
    talk(&home, "one", 1, PNPM);
    let (code, told) = home.json(&["sync"]);
    let report = &told["sessions"][0]["report"];
    assert_eq!(
        (code, model.requests().len(), &report["strategy"]),
        (3, 0, &json!("offline")),
        "{told:#}"
    );
    assert_eq!(report["counts"]["add"], 1, "the rules found it");
    let fallback = metrics(&home, report)["fallback"].clone();
    assert_eq!(fallback, "the session's limit of 100 tokens is reached (0 used)");
    talk(&home, "two", 2, PNPM);
    let demanded = home.run(&["sync", "--strategy", "windows"]);
    assert!(
        demanded.contains("limits.session_tokens") && demanded.ends_with("[exit 3]\n"),
        "{demanded}"
    );
    let (_, queue) = home.json(&["queue"]);
    assert_eq!(queue.to_string().matches("\"pending\"").count(), 1);
}

#[test]
fn money_is_counted_where_a_price_is_known() {
    let (home, model) = (reading(), model());
    home.ok(&["config", "set", "providers.anthropic.api", "openai"]);
    home.ok(&["config", "set", "providers.anthropic.base_url", &model.address]);
    home.ok(&["config", "set", "roles.default.model", "anthropic/claude-sonnet-4-6"]);
    home.ok(&["config", "set", "limits.day_usd", "0.03"]);
    for day in 1..=4 {
        talk(&home, &format!("s{day}"), day, PNPM);
    }
    let (code, told) = home.json(&["sync"]);
    assert_eq!((code, &told["paused"][0]["limit"]), (3, &json!("limits.day_usd")), "{told:#}");
    let n_done = told["sessions"].as_array().unwrap().len();
    let cost = &told["sessions"][0]["report"]["cost_usd"];
    assert_eq!(cost, &json!(0.0066), "twice 600 tokens in at $3 and 100 out at $15 a million");
    let (_, status) = home.json(&["status"]);
    let day = &status["spending"][0];
    let expected = 0.0033 * model.requests().len() as f64;
    assert!(n_done <= model.requests().len());
    assert!((day["cost_usd"].as_f64().unwrap() - expected).abs() < 1e-9, "{status:#}");
    assert_eq!((&day["limit_usd"], &day["unpriced_calls"]), (&json!(0.03), &json!(0)));
}

#[test]
fn a_model_that_cannot_be_had_keeps_the_queue_as_it_is() {
    let home = reading();
    let model = Loopback::new(|_| None);
    model.serve(&home);
    talk(&home, "one", 1, PNPM);
    talk(&home, "two", 2, PNPM);
    let shown = home.run(&["sync"]);
    assert!(shown.contains("Warning: Model work is paused: "), "{shown}");
    assert!(
        shown.contains("--strategy offline does not need one") && shown.ends_with("[exit 3]\n"),
        "{shown}"
    );
    assert_eq!(model.requests().len(), 1, "the second session would only wait for the same model");
    let (_, queue) = home.json(&["queue"]);
    assert_eq!(queue.to_string().matches("\"pending\"").count(), 2);
    assert_eq!(home.json(&["sync", "--strategy", "offline"]).0, 0);
}

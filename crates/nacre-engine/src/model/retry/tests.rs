//! Tests for retries, with a stopped clock and scripted failures.

use std::sync::Mutex;

use super::*;
use crate::model::scripted::Scripted;
use crate::model::{Cancel, Role};

fn served(name: &str, script: &str) -> ServedModel {
    let provider = Arc::new(Scripted::parse(script).unwrap());
    ServedModel { model: name.parse().unwrap(), provider }
}

fn route(scripts: &[&str]) -> Route {
    let mut all: Vec<ServedModel> =
        scripts.iter().enumerate().map(|(n, script)| served(&format!("p{n}/m"), script)).collect();
    let first = all.remove(0);
    Route::new(first, all)
}

fn control() -> Control {
    Control {
        policy: RetryPolicy { deadline: Duration::from_secs(100), ..RetryPolicy::default() },
        limits: Limits::default(),
        seed: 7,
        cancel: Cancel::new(),
    }
}

/// Returns the events, each described with one word, and the outcome.
async fn run(route: &Route, control: &Control) -> (Vec<String>, Result<String, &'static str>) {
    let events = Mutex::new(Vec::new());
    let mut sink = |event: ModelEvent| events.lock().unwrap().push(word(&event));
    let request = Request::new(Role::Ask, "", "hello");
    let result = generate(route, &request, control, &mut sink).await;
    let result = result.map(|response| response.text()).map_err(|error| error.kind.as_str());
    (events.into_inner().unwrap(), result)
}

fn word(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Started { model } => format!("started {model}"),
        ModelEvent::Text(text) => format!("text {text}"),
        ModelEvent::Retry { why, shown, .. } => format!("retry {} {shown:?}", why.as_str()),
        ModelEvent::Fallback { why, to, shown } => format!("to {to} {} {shown:?}", why.as_str()),
        ModelEvent::Stop(_) => "stop".to_owned(),
        ModelEvent::Reasoning(_)
        | ModelEvent::ReasoningSigned { .. }
        | ModelEvent::HiddenReasoning(_)
        | ModelEvent::ToolStarted { .. }
        | ModelEvent::ToolArguments { .. }
        | ModelEvent::TextReplaced { .. }
        | ModelEvent::Usage(_) => format!("{event:?}"),
    }
}

const FINE: &str = r#"{"turns":[{"say":"hi"}]}"#;

#[tokio::test(start_paused = true)]
async fn a_passing_fault_is_tried_again_and_its_text_withdrawn() {
    let script = r#"{"turns":[
        {"error":{"kind":"rate_limited"}},
        {"say":"ha","error":{"kind":"cut_stream"}},
        {"say":"hi"}]}"#;
    let (events, result) = run(&route(&[script]), &control()).await;
    assert_eq!(result, Ok("hi".to_owned()));
    assert_eq!(
        events,
        [
            "started p0/m",
            "retry rate_limited false",
            "started p0/m",
            "text ha",
            "retry cut_stream true",
            "started p0/m",
            "text hi",
            "stop"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_providers_wait_is_honoured() {
    let script =
        r#"{"turns":[{"error":{"kind":"overloaded","retry_after_ms":20000}},{"say":"hi"}]}"#;
    let start = Instant::now();
    let (_, result) = run(&route(&[script]), &control()).await;
    assert_eq!(result, Ok("hi".to_owned()));
    let waited = start.elapsed();
    assert!((20.0..20.2).contains(&waited.as_secs_f64()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_share_goes_to_the_next_model_at_once() {
    let script = r#"{"turns":[{"error":{"kind":"rate_limited","retry_after_ms":60000}}]}"#;
    let start = Instant::now();
    let (events, result) = run(&route(&[script, FINE]), &control()).await;
    assert_eq!(result, Ok("hi".to_owned()));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(events.contains(&"to p1/m rate_limited false".to_owned()), "{events:?}");
    let (_, alone) = run(&route(&[script]), &control()).await;
    assert_eq!(alone, Err("script_mismatch"), "alone, the wait fits into the deadline");
}

#[tokio::test(start_paused = true)]
async fn each_kind_goes_its_way() {
    for (kind, expected) in [
        ("auth", Ok("hi".to_owned())),
        ("quota", Ok("hi".to_owned())),
        ("unknown_model", Ok("hi".to_owned())),
        ("protocol", Ok("hi".to_owned())),
        ("bad_request", Err("bad_request")),
        ("context_too_long", Err("context_too_long")),
        ("refused", Err("refused")),
    ] {
        let script = format!(r#"{{"turns":[{{"error":{{"kind":"{kind}"}}}}]}}"#);
        let (_, result) = run(&route(&[&script, FINE]), &control()).await;
        assert_eq!(result, expected, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_and_models_run_out() {
    let turns = [r#"{"error":{"kind":"unavailable"}}"#; 4].join(",");
    let script = format!(r#"{{"turns":[{turns}]}}"#);
    let (events, result) = run(&route(&[&script, &script]), &control()).await;
    assert_eq!(result, Err("unavailable"));
    let count = |prefix: &str| events.iter().filter(|event| event.starts_with(prefix)).count();
    assert_eq!((count("retry"), count("to "), count("stop")), (6, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_in_the_middle_of_a_wait() {
    let script =
        r#"{"turns":[{"error":{"kind":"overloaded","retry_after_ms":50000}},{"say":"no"}]}"#;
    let source = Cancel::new();
    let control = Control { cancel: source.clone(), ..control() };
    let route = route(&[script]);
    let start = Instant::now();
    let call = run(&route, &control);
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        source.cancel();
    };
    let ((_, result), ()) = tokio::join!(call, cancel);
    assert_eq!(result, Err("cancelled"));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_call_that_hangs() {
    let script = r#"{"turns":[{"hang":true}]}"#;
    let start = Instant::now();
    let (_, result) = run(&route(&[script]), &control()).await;
    assert_eq!(result, Err("timeout"));
    assert_eq!(start.elapsed(), Duration::from_secs(100));
}

#[tokio::test(start_paused = true)]
async fn a_first_model_that_hangs_leaves_the_fallback_its_share_of_the_time() {
    let script = r#"{"turns":[{"hang":true}]}"#;
    let start = Instant::now();
    let (events, result) = run(&route(&[script, FINE]), &control()).await;
    assert_eq!(result, Ok("hi".to_owned()));
    assert_eq!(start.elapsed(), Duration::from_secs(50));
    assert!(events.contains(&"to p1/m timeout false".to_owned()), "{events:?}");
    let start = Instant::now();
    let (_, result) = run(&route(&[script, script]), &control()).await;
    assert_eq!(result, Err("timeout"));
    assert_eq!(start.elapsed(), Duration::from_secs(100), "all together keep to the deadline");
}

#[test]
fn jitter_stays_in_its_range_and_follows_its_seed() {
    let draw = |seed| {
        let mut jitter = Jitter(seed);
        (0..1000).map(|_| jitter.below(Duration::from_secs(1))).collect::<Vec<_>>()
    };
    let waits = draw(3);
    assert_eq!(waits, draw(3));
    assert_ne!(waits, draw(4));
    assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(1)));
    let mean = waits.iter().sum::<Duration>() / 1000;
    assert!((0.45..0.55).contains(&mean.as_secs_f64()), "{mean:?}");
}

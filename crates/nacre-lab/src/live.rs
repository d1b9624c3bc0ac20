//! Sends four kinds of requests to a live model server and prints the responses and their latency.
//! The requests are for text, a tool call, the follow-up to the tool call, and structured output.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nacre_engine::model::{
    ApiChoice, Cancel, Control, Limits, Message, ModelEvent, ModelSettings, Models, OutputSchema,
    ProviderSettings, Request, Response, RetryPolicy, Role, RoleSettings, Route, Secret,
    Structured, ToolCall, ToolDef, ToolResult, ToolStatus, generate, request_structured,
};
use serde_json::{Value, json};

use crate::{Outcome, block_on};

/// Send four requests to a live server: text, a tool call, its follow-up, and structured output
#[derive(Debug, clap::Args)]
pub(crate) struct LiveArgs {
    provider: String,
    model: String,
    /// [BASE_URL] [KEY_VARIABLE]
    rest: Vec<String>,
}

pub(crate) fn run(args: &LiveArgs) -> Outcome {
    block_on(ask(args))?
}

async fn ask(args: &LiveArgs) -> Outcome {
    let LiveArgs { provider, model, rest } = args;
    let models = models(provider, model, rest);
    let route = match models.route(Role::Ask) {
        Ok(route) => route,
        Err(error) => {
            println!("{error}");
            return Ok(false);
        }
    };
    let control = Control {
        policy: RetryPolicy::default(),
        limits: Limits { first_token: Duration::from_secs(300), ..Limits::default() },
        seed: u64::from(std::process::id()),
        cancel: Cancel::new(),
    };
    let mut is_fine = say(&route, &control, &text_request()).await.is_some();
    let called = say(&route, &control, &call_request()).await;
    is_fine &= called.is_some();
    if let Some(follow_up) = called.and_then(|response| follow_up(&response)) {
        is_fine &= say(&route, &control, &follow_up).await.is_some();
    }
    is_fine &= shape(&route, &control).await;
    Ok(is_fine)
}

fn models(provider: &str, model: &str, rest: &[String]) -> Models {
    let key = rest.get(1).and_then(|name| std::env::var(name).ok());
    let settings = ProviderSettings {
        kind: rest.first().filter(|_| provider != "anthropic").map(|_| ApiChoice::OpenAi),
        base_url: rest.first().cloned(),
        key: key.as_deref().and_then(Secret::new),
        ..ProviderSettings::default()
    };
    let model = format!("{provider}/{model}").parse().unwrap();
    Models::new(ModelSettings {
        providers: BTreeMap::from([(provider.to_owned(), settings)]),
        default: Some(RoleSettings::of_model(model)),
        ..ModelSettings::default()
    })
}

fn text_request() -> Request {
    let request = Request::new(Role::Ask, "Answer in one sentence.", "What is nacre?");
    Request { max_tokens: 60, temperature: Some(0.0), ..request }
}

fn call_request() -> Request {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "The file to read." } },
        "required": ["path"],
    });
    let tool = ToolDef {
        name: "read_file".to_owned(),
        description: "Returns the text of a file.".to_owned(),
        schema,
    };
    let request = Request::new(Role::Ask, "Use the tools you have.", "What does README.md say?");
    Request { tools: vec![tool], max_tokens: 120, temperature: Some(0.0), ..request }
}

fn follow_up(response: &Response) -> Option<Request> {
    let result = |call: &&ToolCall| ToolResult {
        call_id: call.id.clone(),
        text: "# Nacre\n\nA file-first memory for coding agents.".to_owned(),
        status: ToolStatus::Done,
    };
    let results: Vec<ToolResult> = response.calls().iter().map(result).collect();
    let mut request = call_request();
    request.messages.push(Message::assistant(response));
    request.messages.push(Message::results(results));
    (!response.calls().is_empty()).then_some(request)
}

async fn say(route: &Route, control: &Control, request: &Request) -> Option<Response> {
    let start = Instant::now();
    let mut first: Option<Duration> = None;
    let mut sink = |event: ModelEvent| {
        if matches!(event, ModelEvent::Text(_) | ModelEvent::ToolStarted { .. }) {
            first.get_or_insert_with(|| start.elapsed());
        }
    };
    match generate(route, request, control, &mut sink).await {
        Ok(response) => {
            let cost = response.usage.cost(&response.model);
            let cost = cost.map_or("unknown".to_owned(), |cost| cost.to_string());
            println!("text: {:?}", response.text());
            for call in response.calls() {
                println!("call: {} {:?}", call.name, call.arguments);
            }
            println!(
                "stop {:?}, first word {:?}, all {:?}, cost {cost}, {:?}\n",
                response.stop,
                first.unwrap_or_default(),
                start.elapsed(),
                response.usage
            );
            Some(response)
        }
        Err(error) => {
            println!("{error}: {:?}\n", error.said);
            None
        }
    }
}

async fn shape(route: &Route, control: &Control) -> bool {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1 },
            "kind": { "type": "string", "enum": ["decision", "learning"] },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 5 },
        },
        "required": ["title", "kind", "tags"],
        "additionalProperties": false,
    });
    let output =
        OutputSchema { name: "memory".to_owned(), description: "One memory.".to_owned(), schema };
    let said = "We agreed to keep the queue in SQLite, because one file is easy to back up.";
    let request = Request::new(Role::Extract, "Extract the memory as JSON.", said);
    let request = Request { max_tokens: 300, temperature: Some(0.0), ..request };
    let start = Instant::now();
    let answer: Result<Structured<Value>, _> =
        request_structured(route, &request, &output, control, &mut |_| {}).await;
    match answer {
        Ok(answer) => {
            println!(
                "shape: {} after {} repairs, {:?}",
                answer.value,
                answer.n_repairs,
                start.elapsed()
            );
            true
        }
        Err(error) => {
            println!("shape: {error}, {:?}", start.elapsed());
            false
        }
    }
}

//! Makes calls in the same way as Nacre, and checks the rules that apply to every call.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use nacre_engine::model::{
    ApiChoice, Cancel, Control, Limits, ModelError, ModelEvent, ModelSettings, Models,
    ProviderSettings, Request, Response, RetryPolicy, Role, RoleSettings, Route, Secret, ToolDef,
    generate,
};
use serde_json::json;

use crate::loopback::Loopback;
use crate::styles::Style;

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Returns settings that retry immediately. Unless a test overrides the timeouts, they do not
/// expire even on a busy machine.
pub(crate) fn control() -> Control {
    Control {
        policy: RetryPolicy {
            attempts: 3,
            base: Duration::from_millis(1),
            cap: Duration::from_millis(2),
            deadline: Duration::from_secs(120),
        },
        limits: Limits {
            first_token: Duration::from_secs(60),
            next_token: Duration::from_secs(60),
            ..Limits::default()
        },
        seed: 1,
        cancel: Cancel::new(),
    }
}

/// Returns a route to the given servers, in order.
pub(crate) fn route(servers: &[(Style, &Loopback)]) -> Route {
    let servers: Vec<(&str, Style, &Loopback)> =
        servers.iter().map(|(style, server)| (style.provider(), *style, *server)).collect();
    route_of(&servers, KEY)
}

/// Like `route`, but with custom provider names and keys.
pub(crate) fn route_of(servers: &[(&str, Style, &Loopback)], key: &str) -> Route {
    let mut providers = BTreeMap::new();
    let mut models = Vec::new();
    for (name, style, server) in servers {
        let (kind, path) = match style {
            Style::Anthropic => (ApiChoice::Anthropic, ""),
            Style::OpenAi => (ApiChoice::OpenAi, "/v1"),
        };
        let settings = ProviderSettings {
            kind: Some(kind),
            base_url: Some(format!("{}{path}", server.address)),
            key: Secret::new(key),
            ..ProviderSettings::default()
        };
        providers.insert((*name).to_owned(), settings);
        models.push(format!("{name}/m").parse().unwrap());
    }
    let mut role = RoleSettings::of_model(models.remove(0));
    role.fallbacks = models;
    let settings = ModelSettings { providers, default: Some(role), ..ModelSettings::default() };
    Models::new(settings).route(Role::Ask).unwrap()
}

pub(crate) fn question() -> Request {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = ToolDef { name: "read".to_owned(), description: "Reads.".to_owned(), schema };
    Request { tools: vec![tool], ..Request::new(Role::Ask, "Be short.", "Hello") }
}

/// The outcome of a call.
pub(crate) struct Outcome {
    pub(crate) result: Result<Response, ModelError>,
    pub(crate) events: Vec<ModelEvent>,
}

impl Outcome {
    /// Returns the retries and fallbacks, each with its reason and whether output had been shown.
    pub(crate) fn detours(&self) -> Vec<(&'static str, bool)> {
        let detour = |event: &ModelEvent| match event {
            ModelEvent::Retry { why, shown, .. } | ModelEvent::Fallback { why, shown, .. } => {
                Some((why.as_str(), *shown))
            }
            _ => None,
        };
        self.events.iter().filter_map(detour).collect()
    }

    pub(crate) fn kind(&self) -> &'static str {
        match &self.result {
            Ok(_) => "ok",
            Err(error) => error.kind.as_str(),
        }
    }
}

pub(crate) async fn ask(route: &Route) -> Outcome {
    ask_with(route, &question(), &control()).await
}

/// Makes a call and checks what applies to every call: it ends exactly once, and the text shown
/// last is the text of the response.
pub(crate) async fn ask_with(route: &Route, request: &Request, control: &Control) -> Outcome {
    let seen = Mutex::new(Vec::new());
    let mut sink = |event: ModelEvent| seen.lock().unwrap().push(event);
    let result = generate(route, request, control, &mut sink).await;
    let events = seen.into_inner().unwrap();
    let n_stops = events.iter().filter(|event| matches!(event, ModelEvent::Stop(_))).count();
    assert_eq!(n_stops, usize::from(result.is_ok()), "{events:#?}");
    if let Ok(response) = &result {
        assert_eq!(events.last(), Some(&ModelEvent::Stop(response.stop.clone())));
        if request.output.is_none() {
            assert_eq!(last_text(&events), response.text());
        }
    }
    Outcome { result, events }
}

/// Returns the text that a user who follows the events sees at the end.
fn last_text(events: &[ModelEvent]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            ModelEvent::Started { .. } => text.clear(),
            ModelEvent::Text(piece) => text.push_str(piece),
            ModelEvent::TextReplaced { text: whole } => text.clone_from(whole),
            _ => {}
        }
    }
    text
}

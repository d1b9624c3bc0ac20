//! One request: guarded, found in the table, put together, carried out, answered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, AUTHORIZATION, IF_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use nacre_api::wire::{ChangedThing, ErrorCode, LINES_TYPE, StreamedEvent};
use nacre_ops::chat::{ChatOptions, Chats, Workspaces};
use nacre_ops::host::{Environment, Needs, Registering, Tolerance};
use nacre_ops::people::Caller;
use nacre_ops::{Cancel, Events, OpError};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::access::{Key, Keys};
use super::body::{Body, read_json};
use super::events::Listeners;
use super::guard::{Entry, Names, Proof, Refusal, check_form, check_origin, only};
use super::hub::{Hub, Source};
use super::lines::lines;
use super::openapi::DESCRIPTION;
use super::parameters::{Query, parameters};
use super::route::{Access, Done, Handling, OwnRoute, Route, UseOfVersion, Work};
use super::service::Service;
use super::table::{Found, FoundRoute, Table};
use super::tasks::{Reports, TaskRunner, begun};
use super::{answer, assets, guard, headers, login, mcp, upgrade};
use crate::calls::{CallInfo, Calls, Pace};
use crate::people::{LastingAccess, NewEntry, People, TrustedProxy};
use crate::rpc::{Clients, RpcConnection};

/// Operations that run at the same time; others wait.
const MAX_RUNNING: usize = 8;
/// How long an operation may take that is not a task.
const OPERATION_TIME: Duration = Duration::from_secs(60);

/// Everything that a request is answered with.
pub(super) struct Server {
    names: Names,
    keys: Keys,
    people: People,
    proxy: Option<TrustedProxy>,
    table: Table,
    tasks: TaskRunner,
    listeners: Listeners,
    service: Service,
    clients: Clients,
    stop: Cancel,
    uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
}

/// A request as far as it was read.
struct Asked<'t> {
    route: &'t Route,
    schema: Option<&'t Value>,
    path: Vec<(String, String)>,
    query: Query,
    body: Value,
    version: Option<String>,
    last_event: Option<String>,
    /// Whether the client wants events and report as lines.
    wants_lines: bool,
    /// Whose request it is.
    caller: Caller,
}

impl Server {
    pub(super) fn new(
        environment: Environment,
        (names, keys): (Names, Keys),
        (people, proxy): (People, Option<TrustedProxy>),
        ((boot, secret), service): ((String, String), Service),
        stop: Cancel,
    ) -> Self {
        let uptime = Arc::clone(&environment.uptime);
        let hub = Arc::new(Hub::new(boot, secret, &environment));
        let calls = Arc::new(Calls::new(environment.clone(), MAX_RUNNING));
        let options = ChatOptions { shared: calls.shared(), ..ChatOptions::default() };
        let chats = Chats::new(environment.clone(), options, Handle::current());
        let clients = Clients::new(chats, environment, stop.clone());
        let tasks = TaskRunner { calls, hub, reports: Arc::new(Reports::default()) };
        let (table, listeners) = (Table::new(), Listeners::new());
        Self { names, keys, people, proxy, table, tasks, listeners, service, clients, stop, uptime }
    }

    /// Begins what the server does by itself.
    pub(super) fn start_loops(&self) {
        self.service.start(&self.tasks);
    }

    /// Writes down what is not written yet.
    pub(super) async fn end(&self) {
        let people = self.people.clone();
        // A database is waited for, which a thread of the runtime must not do.
        let _ = spawn_blocking(move || people.write()).await;
    }

    /// Stops what still runs.
    pub(super) fn cancel_all(&self) {
        self.tasks.calls.cancel_all();
        self.clients.chats().cancel_all();
    }

    pub(super) fn n_running(&self) -> usize {
        self.tasks.calls.n_running() + self.clients.chats().n_turns()
    }

    /// How many calls there were.
    pub(super) fn n_begun(&self) -> u64 {
        self.tasks.calls.n_begun()
    }

    /// The answer to a request, whatever it is.
    pub(super) async fn answer<B>(&self, entry: Entry, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
    {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answered = self.guarded(entry, request).await;
        let mut response = answered.unwrap_or_else(answer::refusal);
        if response.status().is_server_error() {
            self.service.log_failed(method.as_str(), &path, response.status());
        }
        headers::protect(response.headers_mut());
        response
    }

    async fn guarded<B>(&self, entry: Entry, request: Request<B>) -> Result<Response<Body>, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
    {
        let (parts, body) = request.into_parts();
        check_origin(&self.names, entry, &parts.uri, &parts.headers)?;
        let is_read = [Method::GET, Method::HEAD].contains(&parts.method);
        if is_read && let Some(asset) = assets::asset(parts.uri.path()) {
            return Ok(asset);
        }
        let found = match self.table.find(&parts.method, parts.uri.path()) {
            Found::Route(found) => found,
            Found::OtherVerbs(verbs) => return Ok(not_allowed(&verbs)),
            Found::Nothing => return Err(nothing()),
        };
        let route = found.route;
        check_form(&parts.method, &parts.headers)?;
        let caller = self.caller(entry, route.access, &parts.headers).await?;
        let query = Query::parse(parts.uri.query().unwrap_or_default(), route.is_task())
            .map_err(|error| Refusal { status: StatusCode::BAD_REQUEST, error })?;
        let project = query.project.clone();
        let permitted = route.permit().check(&caller, project.as_deref());
        let answered = match permitted {
            Ok(()) => self.permitted(found, (entry, caller.clone(), query), (parts, body)).await,
            Err(error) => Err(Refusal { status: StatusCode::FORBIDDEN, error }),
        };
        let status = answered.as_ref().map_or_else(|refusal| refusal.status, Response::status);
        let is_ok = status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS;
        let note = NewEntry {
            what: format!("{} {}", route.verb.as_str(), route.path),
            project,
            outcome: if is_ok { "ok".to_owned() } else { status.as_str().to_owned() },
        };
        self.people.note(&caller, route.access == Access::Change, note);
        answered
    }

    /// Whose request it is. Whoever shows nothing may ask for what is open to anybody.
    async fn caller(
        &self,
        entry: Entry,
        access: Access,
        headers: &HeaderMap,
    ) -> Result<Caller, Refusal> {
        match (access, entry) {
            (Access::Open, _) => return Ok(Caller::nobody()),
            (Access::Read | Access::Change | Access::Program, Entry::Socket) => {
                return Ok(Caller::owner());
            }
            (Access::Read | Access::Change | Access::Program, Entry::Port(_)) => {}
        }
        let failed = |error| Refusal { status: StatusCode::SERVICE_UNAVAILABLE, error };
        let proof = match only(headers, &AUTHORIZATION) {
            Some(shown) => self.shown(shown).await.map_err(failed)?,
            None => self.named_by_proxy(entry, headers).await.map_err(failed)?,
        };
        guard::caller(proof, access, headers)
    }

    /// What the header `Authorization` proves: the server's own token, the secret of a page, or the token of a person.
    async fn shown(&self, shown: &str) -> Result<Option<Proof>, OpError> {
        let Some(shown) = shown.strip_prefix("Bearer ").map(str::trim) else { return Ok(None) };
        Ok(match self.keys.find(shown, (self.uptime)()) {
            Some(Key::Owner) => Some(Proof::Token(Caller::owner())),
            Some(Key::Page(identity)) => self.people.caller(&identity).await?.map(Proof::Page),
            None => self.people.with_token(shown).await?.map(Proof::Token),
        })
    }

    /// The person whom the trusted proxy names. From any other address its header says nothing.
    async fn named_by_proxy(
        &self,
        entry: Entry,
        headers: &HeaderMap,
    ) -> Result<Option<Proof>, OpError> {
        let Some(TrustedProxy { address, header }) = &self.proxy else { return Ok(None) };
        match (only(headers, header), entry) {
            (Some(name), Entry::Port(peer)) if peer == *address => {
                Ok(self.people.named(name).await?.map(Proof::Page))
            }
            (Some(_), Entry::Port(_) | Entry::Socket) | (None, _) => Ok(None),
        }
    }

    /// The access of a connection that stays open after its request.
    fn lasting(&self, route: &Route, caller: Caller) -> LastingAccess {
        let (people, identity) = (self.people.clone(), caller.identity);
        LastingAccess { people, identity, permit: route.permit() }
    }

    /// Carries out what the caller may ask for.
    async fn permitted<B>(
        &self,
        found: FoundRoute<'_>,
        (entry, caller, query): (Entry, Caller, Query),
        (parts, body): (http::request::Parts, B),
    ) -> Result<Response<Body>, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + std::fmt::Display,
    {
        let is_read = [Method::GET, Method::HEAD].contains(&parts.method);
        if matches!(found.route.handling, Handling::Own(OwnRoute::Mcp)) {
            let request = Request::from_parts(parts, body);
            let environment = self.tasks.calls.environment();
            return Ok(mcp::answer(environment, (caller, query.project), request).await);
        }
        if matches!(found.route.handling, Handling::Own(OwnRoute::Rpc)) {
            let access = self.lasting(found.route, caller);
            let workspaces = match entry {
                Entry::Socket => Workspaces::Any,
                Entry::Port(_) => Workspaces::Registered,
            };
            return match self.clients.folder(query.project).await {
                Ok(folder) => {
                    let connection = RpcConnection { folder, workspaces, access };
                    upgrade::answer(&self.clients, connection, parts)
                }
                Err(error) => Ok(answer::failure(error)),
            };
        }
        let last_event = HeaderName::from_static("last-event-id");
        let asked = Asked {
            route: found.route,
            schema: found.schema,
            path: found.path,
            query,
            body: if is_read { Value::Null } else { read_json(body).await? },
            version: only(&parts.headers, &IF_MATCH).map(|text| text.trim_matches('"').to_owned()),
            last_event: only(&parts.headers, &last_event).map(str::to_owned),
            wants_lines: only(&parts.headers, &ACCEPT) == Some(LINES_TYPE),
            caller,
        };
        self.carried_out(asked).await
    }

    async fn carried_out(&self, asked: Asked<'_>) -> Result<Response<Body>, Refusal> {
        match &asked.route.handling {
            Handling::Own(own) => self.own(*own, asked),
            Handling::Operation(prepare) => {
                let (info, request) = prepared(&asked)?;
                match prepare(request) {
                    Ok(work) if asked.wants_lines => Ok(lines(&self.tasks.calls, info, work)),
                    Ok(work) => Ok(self.operation(asked.route, info, work).await),
                    Err(error) => Ok(answer::failure(error)),
                }
            }
            Handling::Task(prepare) => {
                let (info, request) = prepared(&asked)?;
                let work = match prepare(request) {
                    Ok(work) => work,
                    Err(error) => return Ok(answer::failure(error)),
                };
                if asked.wants_lines {
                    return Ok(lines(&self.tasks.calls, info, work));
                }
                Ok(match asked.query.wait {
                    true => answered(self.tasks.wait(info, work).await),
                    false => begun(self.tasks.begin(info, work).await),
                })
            }
        }
    }

    async fn operation(&self, route: &Route, info: CallInfo, work: Work) -> Response<Body> {
        let (project, person) = (info.project.clone(), info.caller.person().map(str::to_owned));
        let source = Source { task: None, project, person };
        let running =
            self.tasks.calls.run(info, Events::ignored(), tokio::time::sleep(OPERATION_TIME), work);
        let result = running.await;
        if let (Ok(_), Some(what)) = (&result, route.changes) {
            self.tasks.hub.publish(&source, StreamedEvent::Changed { what });
        }
        match result {
            Err(error)
                if error.code == ErrorCode::Conflict && route.version != UseOfVersion::None =>
            {
                answer::refusal(Refusal { status: StatusCode::PRECONDITION_FAILED, error })
            }
            result => answered(result),
        }
    }

    fn own(&self, own: OwnRoute, asked: Asked<'_>) -> Result<Response<Body>, Refusal> {
        let now = (self.uptime)();
        Ok(match own {
            OwnRoute::Health => answer::value(StatusCode::OK, &self.service.health()),
            OwnRoute::Ready => answer::value(StatusCode::OK, &self.service.ready()?),
            OwnRoute::Metrics => {
                let (begun, running) = (self.n_begun(), self.n_running());
                self.service.metrics((begun, running), self.listeners.count())
            }
            OwnRoute::OpenApi => answer::json(StatusCode::OK, DESCRIPTION.as_bytes()),
            OwnRoute::LoginCode => login::new_code(&self.keys, asked.caller.identity, now),
            OwnRoute::Login => login::log_in(&self.keys, asked.body, now)?,
            OwnRoute::Events => {
                let task = asked.query.fields.into_iter().find(|(key, _)| key == "task");
                let task = task.map(|(_, task)| task);
                let listener =
                    self.tasks.hub.listen(&asked.caller, asked.last_event.as_deref(), task);
                let access = self.lasting(asked.route, asked.caller);
                self.listeners.stream(listener, access, self.stop.clone())?
            }
            // Their bodies are not ours to read.
            OwnRoute::Mcp | OwnRoute::Rpc => return Err(nothing()),
            OwnRoute::TaskReport => {
                let task = asked.path.first().map_or("", |(_, task)| task);
                self.tasks.reports.answer(task, &asked.caller)
            }
            OwnRoute::Service => {
                answer::value(StatusCode::OK, &self.service.report(self.listeners.count()))
            }
            OwnRoute::Pause => self.about_service(self.service.set_paused(true)),
            OwnRoute::Resume => self.about_service(self.service.set_paused(false)),
            OwnRoute::Wake => self.about_service(self.service.wake(asked.body)),
            OwnRoute::Stop => self.service.stop(),
        })
    }

    /// What the service is after a change, which others are told of.
    fn about_service(&self, changed: Result<ChangedThing, OpError>) -> Response<Body> {
        match changed {
            Ok(what) => {
                self.tasks.hub.publish_change(&Source::default(), what);
                answer::value(StatusCode::OK, &self.service.report(self.listeners.count()))
            }
            Err(error) => answer::failure(error),
        }
    }
}

/// How a request opens its host, and the JSON of its wire type.
fn prepared(asked: &Asked<'_>) -> Result<(CallInfo, Value), Refusal> {
    let Asked { route, schema, path, query, body, version, caller, .. } = asked;
    let bad = |error| Refusal { status: StatusCode::BAD_REQUEST, error };
    let mut request = parameters(*schema, path, query, body.clone()).map_err(bad)?;
    match (route.version, version) {
        (UseOfVersion::Required, None) => {
            let message = "The version that this change is based on is missing";
            return Err(Refusal::new(StatusCode::PRECONDITION_REQUIRED, ErrorCode::Usage, message)
                .hint("Send the `ETag` of the last answer as `If-Match`"));
        }
        (UseOfVersion::Required | UseOfVersion::Checked, Some(version)) => {
            request["version"] = Value::String(version.clone());
        }
        (UseOfVersion::Checked, None) | (UseOfVersion::None, _) => {}
    }
    // A reader registers nothing.
    let can_change = route.access == Access::Change;
    let registering = if can_change { Registering::Yes } else { Registering::ForNow };
    let info = CallInfo {
        can_change,
        project: query.project.clone(),
        needs: Needs::Registered,
        registering,
        caller: caller.clone(),
        permit: route.permit(),
        ..CallInfo::named(route.path)
    };
    let info = if route.is_hook { of_hook(info, &request).map_err(bad)? } else { info };
    Ok((info, request))
}

/// A call as the hook's own process would make it: in the agent's folder, whatever is wrong with the repository's settings.
fn of_hook(info: CallInfo, request: &Value) -> Result<CallInfo, OpError> {
    // The folder of an agent is read for the owner's own processes alone.
    let folder = request["folder"].as_str().map(PathBuf::from).filter(|_| info.caller.is_owner());
    let Some(folder) = folder.filter(|folder| folder.is_absolute() && folder.is_dir()) else {
        return Err(OpError::usage("`folder` is not the path of a folder"));
    };
    Ok(CallInfo {
        folder: Some(folder),
        needs: Needs::Folder,
        tolerance: Tolerance::OfRepository,
        pace: Pace::Urgent,
        // What is told changes no store.
        can_change: false,
        ..info
    })
}

fn answered(result: Result<Done, OpError>) -> Response<Body> {
    match result {
        Ok(done) => answer::report(done),
        Err(error) => answer::failure(error),
    }
}

fn nothing() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "There is nothing at this address")
        .hint("GET /api/openapi.json lists what there is")
}

fn not_allowed(verbs: &[&str]) -> Response<Body> {
    let message = "This address is not asked that way";
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::Usage, message);
    let mut response = answer::refusal(refusal);
    if let Ok(allowed) = HeaderValue::from_str(&verbs.join(", ")) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

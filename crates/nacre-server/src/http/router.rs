//! Routes requests to operations and sends their responses.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use nacre_ops::chat::Workspaces;
use nacre_ops::host::{Needs, Registering, Tolerance};
use nacre_types::LINES_TYPE;

use super::answer::{Prepare, Refusal, Work};
use super::events::EventSource;
use super::guard::{EntryPoint, Proof, check_form, check_origin, only};
use super::parameters::{Query, parameters, read_json, schemas};
use super::route::{Handling, Route, UseOfVersion};
use super::server::{RouteRequest, Server};
use super::tasks::lines;
use super::{answer, guard, protocols, routes};
use crate::calls::{CallInfo, Pace};
use crate::people::TrustedProxy;
use crate::prelude::*;

const OPERATION_TIME: Duration = Duration::from_secs(60);

pub(super) fn router(server: &Arc<Server>) -> Router {
    let schemas = schemas();
    let mut router: Router<Arc<Server>> = Router::new();
    for mut route in routes::all() {
        let schema = route.request.as_deref().and_then(|name| schemas.get(name));
        route.schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
        // A test checks that axum supports every method in the table.
        let Ok(filter) = MethodFilter::try_from(route.head.verb.clone()) else { continue };
        let (path, route) = (route.head.path, Arc::new(route));
        let handler = move |State(server): State<Arc<Server>>,
                            Extension(entry): Extension<EntryPoint>,
                            path: Result<RawPathParams, RawPathParamsRejection>,
                            request: Request| async move {
            // A path that is not valid UTF-8 is treated as not found.
            let path = path.map_err(|_| not_found())?;
            server.answer(&route, entry, &path, request).await
        };
        router = router.route(path, on(filter, handler));
    }
    router
        .fallback(asset)
        .method_not_allowed_fallback(other_verb)
        .layer(from_fn_with_state(Arc::clone(server), guard_request))
        .with_state(Arc::clone(server))
}

async fn guard_request(
    State(server): State<Arc<Server>>,
    Extension(entry): Extension<EntryPoint>,
    request: Request,
    next: Next,
) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match check_origin(&server.names, entry, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    if response.status().is_server_error() {
        server.service.log_failed(method.as_str(), &path, response.status());
    }
    answer::protect(response.headers_mut());
    response
}

async fn asset(request: Request) -> Result<Response, Refusal> {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let asset = is_read.then(|| answer::asset(request.uri().path())).flatten();
    asset.ok_or_else(not_found)
}

async fn other_verb() -> Refusal {
    let message = "This path does not support the method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::Usage, message)
}

impl Server {
    async fn answer(
        self: Arc<Self>,
        route: &Route,
        entry: EntryPoint,
        path: &RawPathParams,
        request: Request,
    ) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        check_form(&parts.method, &parts.headers)?;
        let caller = self.caller(entry, route, &parts.headers).await?;
        let query = Query::parse(parts.uri.query().unwrap_or_default(), route.is_task())
            .map_err(Refusal::bad_request)?;
        let permitted = route.head.permit.check(&caller, query.project.as_deref());
        let what = format!("{} {}", route.head.verb, route.head.path);
        let project = query.project.clone();
        let named =
            |(name, value): (&str, &str)| (route.field_of(name).to_owned(), value.to_owned());
        let asked = RouteRequest {
            path: path.iter().map(named).collect(),
            permit: route.head.permit,
            query,
            headers: parts.headers.clone(),
            body: Value::Null,
            caller: caller.clone(),
        };
        let answered = match permitted {
            Ok(()) => self.carry_out(route, asked, entry, parts, body).await,
            Err(error) => Err(Refusal { status: StatusCode::FORBIDDEN, error }),
        };
        let status = answered.as_ref().map_or_else(|refusal| refusal.status, Response::status);
        let is_ok = status.is_success() || status == StatusCode::SWITCHING_PROTOCOLS;
        let outcome = if is_ok { "ok" } else { status.as_str() };
        self.people.note(&caller, what, project, route.is_change(), outcome);
        answered
    }

    /// Returns a request's caller. Requests without credentials may use only public routes.
    async fn caller(
        &self,
        entry: EntryPoint,
        route: &Route,
        headers: &HeaderMap,
    ) -> Result<Caller, Refusal> {
        if route.is_open() {
            return Ok(Caller::nobody());
        }
        if entry == EntryPoint::Socket {
            return Ok(Caller::owner());
        }
        let failed = |error| Refusal { status: StatusCode::SERVICE_UNAVAILABLE, error };
        let proof = match only(headers, &AUTHORIZATION) {
            Some(shown) => self.check_authorization(shown).await.map_err(failed)?,
            None => self.authenticate_proxy(entry, headers).await.map_err(failed)?,
        };
        guard::caller(proof, route.access, headers)
    }

    /// Checks the `Authorization` header, which contains the server's token, a dashboard login
    /// secret or a person's token.
    async fn check_authorization(&self, shown: &str) -> Result<Option<Proof>> {
        let Some(shown) = shown.strip_prefix("Bearer ").map(str::trim) else { return Ok(None) };
        if self.keys.is_own_token(shown) {
            return Ok(Some(Proof::Token(Caller::owner())));
        }
        Ok(match self.keys.find_login(shown, self.now()) {
            Some(identity) => self.people.caller(&identity).await?.map(Proof::Page),
            None => self.people.with_token(shown).await?.map(Proof::Token),
        })
    }

    /// Returns the caller named in the trusted proxy's header, which is ignored if the request
    /// comes from any other address.
    async fn authenticate_proxy(
        &self,
        entry: EntryPoint,
        headers: &HeaderMap,
    ) -> Result<Option<Proof>> {
        let Some(TrustedProxy { address, header }) = &self.proxy else { return Ok(None) };
        match (only(headers, header), entry) {
            (Some(name), EntryPoint::Port(peer)) if peer == *address => {
                Ok(self.people.find_by_name(name).await?.map(Proof::Page))
            }
            (Some(_), EntryPoint::Port(_) | EntryPoint::Socket) | (None, _) => Ok(None),
        }
    }

    async fn carry_out(
        self: &Arc<Self>,
        route: &Route,
        mut asked: RouteRequest,
        entry: EntryPoint,
        parts: Parts,
        body: Body,
    ) -> Result<Response, Refusal> {
        if matches!(route.handling, Handling::Mcp) {
            let (environment, request) =
                (&self.tasks.calls.environment, Request::from_parts(parts, body));
            let RouteRequest { caller, query, .. } = asked;
            return Ok(protocols::answer_mcp(environment, caller, query.project, request).await);
        }
        let is_read = [Method::GET, Method::HEAD].contains(&parts.method);
        if !is_read && !matches!(route.handling, Handling::Rpc) {
            asked.body = read_json(body).await?;
        }
        match &route.handling {
            Handling::Own(handler) => handler(self, asked),
            Handling::Operation(prepare) => self.operation(route, asked, prepare).await,
            Handling::Task(prepare) => {
                let (info, work) = prepare_call(route, &asked, prepare)?;
                if wants_lines(&asked) {
                    Ok(lines(&self.tasks.calls, info, work))
                } else if asked.query.wait {
                    Ok(answer::report(self.tasks.wait(info, work).await?))
                } else {
                    self.tasks.begin(info, work).await
                }
            }
            Handling::Mcp => Err(not_found()),
            Handling::Rpc => {
                let access = self.lasting_access(&asked);
                let folder = self.clients.folder(asked.query.project).await?;
                let workspaces = match entry {
                    EntryPoint::Socket => Workspaces::Any,
                    EntryPoint::Port(_) => Workspaces::Registered,
                };
                protocols::upgrade(&self.clients, folder, workspaces, access, parts)
            }
        }
    }

    async fn operation(
        &self,
        route: &Route,
        asked: RouteRequest,
        prepare: &Prepare,
    ) -> Result<Response, Refusal> {
        let (info, work) = prepare_call(route, &asked, prepare)?;
        if wants_lines(&asked) {
            return Ok(lines(&self.tasks.calls, info, work));
        }
        let source = EventSource::of(&info);
        let time = tokio::time::sleep(OPERATION_TIME);
        let result = self.tasks.calls.run(info, Events::discard(), time, work).await;
        let Route { changes, version, .. } = route;
        if let (Ok(_), Some(what)) = (&result, changes) {
            self.tasks.hub.publish_change(&source, *what);
        }
        match result {
            Ok(done) => Ok(answer::report(done)),
            Err(error) if error.code == ErrorCode::Conflict && *version != UseOfVersion::None => {
                Err(Refusal { status: StatusCode::PRECONDITION_FAILED, error })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether the client wants JSON lines: the events, then the report.
fn wants_lines(asked: &RouteRequest) -> bool {
    only(&asked.headers, &ACCEPT) == Some(LINES_TYPE)
}

fn prepare_call(
    route: &Route,
    asked: &RouteRequest,
    prepare: &Prepare,
) -> Result<(CallInfo, Work), Refusal> {
    let body = asked.body.clone();
    let mut request = parameters(route.schema.as_ref(), &asked.path, &asked.query, body)
        .map_err(Refusal::bad_request)?;
    let version = only(&asked.headers, &IF_MATCH).map(|text| text.trim_matches('"'));
    match (route.version, version) {
        (UseOfVersion::Required, None) => {
            let message = "The header `If-Match` is missing";
            let status = StatusCode::PRECONDITION_REQUIRED;
            return Err(Refusal::new(status, ErrorCode::Usage, message)
                .hint("Send the `ETag` of the last response as `If-Match`"));
        }
        (UseOfVersion::Required | UseOfVersion::Checked, Some(version)) => {
            request["version"] = Value::String(version.to_owned());
        }
        (UseOfVersion::Checked, None) | (UseOfVersion::None, _) => {}
    }
    let mut info = CallInfo {
        can_change: route.is_change(),
        project: asked.query.project.clone(),
        needs: Needs::Registered,
        // Read requests must not register a project.
        registering: if route.is_change() { Registering::Yes } else { Registering::ForNow },
        caller: asked.caller.clone(),
        permit: route.head.permit,
        ..CallInfo::for_name(route.head.path)
    };
    if route.is_hook {
        info = open_as_hook(info, &request).map_err(Refusal::bad_request)?;
    }
    Ok((info, prepare(request)?))
}

/// Runs the call in the agent's directory, even if the repository's settings are invalid.
fn open_as_hook(info: CallInfo, request: &Value) -> Result<CallInfo> {
    // Only the owner's processes may choose a directory.
    let folder = request["folder"].as_str().map(PathBuf::from).filter(|_| info.caller.is_owner());
    let Some(folder) = folder.filter(|folder| folder.is_absolute() && folder.is_dir()) else {
        return Err(OpError::usage("`folder` is not a valid directory path"));
    };
    Ok(CallInfo {
        folder: Some(folder),
        needs: Needs::Folder,
        tolerance: Tolerance::OfRepository,
        pace: Pace::Urgent,
        // Hooks never modify stores.
        can_change: false,
        ..info
    })
}

fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "Unknown path")
        .hint("GET /api/openapi.json lists all paths")
}

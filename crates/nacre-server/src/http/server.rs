//! The server's shared state, and the routes that it handles without an operation.

use axum::http::{HeaderMap, HeaderName};
use nacre_ops::chat;
use nacre_types::{LoginCode, LoginReport, WakeRequest};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::answer::{self, Refusal, no_sense};
use super::events::{self, EventSource, Hub};
use super::guard::{Keys, Names, only};
use super::parameters::{DESCRIPTION, Query};
use super::service::Service;
use super::tasks::TaskRunner;
use crate::calls::Calls;
use crate::people::{LastingAccess, OpenConnections, People, Permit, TrustedProxy};
use crate::prelude::*;
use crate::rpc::Clients;

const MAX_RUNNING: usize = 8;

pub(super) struct Server {
    pub(super) names: Names,
    pub(super) keys: Keys,
    pub(super) people: People,
    pub(super) proxy: Option<TrustedProxy>,
    pub(super) tasks: TaskRunner,
    pub(super) listeners: OpenConnections,
    pub(super) service: Service,
    pub(super) clients: Clients,
    pub(super) stop: Cancel,
    uptime: Arc<dyn Fn() -> Duration + Send + Sync>,
}

pub(super) struct RouteRequest {
    /// Field names and values.
    pub(super) path: Vec<(String, String)>,
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    pub(super) caller: Caller,
    pub(super) permit: Permit,
}

impl Server {
    /// `token` is this server's own token.
    pub(super) fn new(
        environment: Environment,
        names: Names,
        token: String,
        proxy: Option<TrustedProxy>,
        service: Service,
        stop: Cancel,
    ) -> Result<Self> {
        let hub = Arc::new(Hub::new(&environment)?);
        let calls = Arc::new(Calls::new(environment.clone(), MAX_RUNNING));
        let chats = chat::open(environment.clone(), calls.shared.clone(), None, Handle::current());
        Ok(Self {
            names,
            keys: Keys::new(token, &environment),
            people: People::new(environment.clone()),
            proxy,
            tasks: TaskRunner::new(calls, hub),
            listeners: events::listeners(),
            service,
            uptime: Arc::clone(&environment.uptime),
            clients: Clients::new(chats, environment, stop.clone()),
            stop,
        })
    }

    pub(super) async fn end(&self) {
        let people = self.people.clone();
        // Writing blocks on the database, so it must not run on a runtime thread.
        let _ = spawn_blocking(move || people.write()).await;
    }

    /// Cancels all calls, including active chat turns.
    pub(super) fn cancel_all(&self) {
        self.tasks.calls.cancel_all();
        self.clients.chats.cancel_all();
    }

    pub(super) fn n_running(&self) -> usize {
        self.tasks.calls.n_running() + self.clients.chats.n_turns()
    }

    pub(super) fn n_begun(&self) -> u64 {
        self.tasks.calls.n_begun()
    }

    pub(super) fn now(&self) -> Duration {
        (self.uptime)()
    }

    /// Returns the access rights for a connection that outlives its request.
    pub(super) fn lasting_access(&self, asked: &RouteRequest) -> LastingAccess {
        LastingAccess {
            people: self.people.clone(),
            identity: asked.caller.identity.clone(),
            permit: asked.permit,
        }
    }
}

type Answer = Result<Response, Refusal>;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) fn health(server: &Arc<Server>, _: RouteRequest) -> Answer {
    Ok(answer::value(StatusCode::OK, &server.service.health()))
}

pub(super) fn ready(server: &Arc<Server>, _: RouteRequest) -> Answer {
    Ok(answer::value(StatusCode::OK, &server.service.ready()?))
}

pub(super) fn metrics(server: &Arc<Server>, _: RouteRequest) -> Answer {
    let (begun, running) = (server.n_begun(), server.n_running());
    Ok(server.service.metrics(begun, running, server.listeners.count()))
}

pub(super) fn description(_: &Arc<Server>, _: RouteRequest) -> Answer {
    Ok(([(CONTENT_TYPE, "application/json")], DESCRIPTION).into_response())
}

pub(super) fn login_code(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    let code = server.keys.new_code(asked.caller.identity, server.now())?;
    Ok(answer::value(StatusCode::OK, &LoginCode { code }))
}

pub(super) fn login(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    let LoginCode { code } = serde_json::from_value(asked.body)
        .map_err(|error| Refusal::bad_request(no_sense(error)))?;
    let Some(secret) = server.keys.log_in(&code, server.now())? else {
        let message = "The login link has expired or was already used";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::Refused, message)
            .hint("To create a new one: nacre dashboard"));
    };
    Ok(answer::value(StatusCode::OK, &LoginReport { secret }))
}

pub(super) fn events(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    let access = server.lasting_access(&asked);
    let last_id = only(&asked.headers, &LAST_EVENT_ID);
    let task = asked.query.fields.into_iter().find(|(key, _)| key == "task").map(|(_, task)| task);
    let listener = server.tasks.hub.listen(&asked.caller, last_id, task);
    events::stream(&server.listeners, listener, access, server.stop.clone())
}

pub(super) fn task_report(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    let RouteRequest { path, caller, .. } = asked;
    let task = path.first().map_or("", |(_, task)| task);
    server.tasks.report(task, &caller)
}

pub(super) fn service(server: &Arc<Server>, _: RouteRequest) -> Answer {
    Ok(answer::value(StatusCode::OK, &server.service.report(server.listeners.count())))
}

pub(super) fn pause(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    server.service.set_paused(true)?;
    announce_service(server, asked)
}

pub(super) fn resume(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    server.service.set_paused(false)?;
    announce_service(server, asked)
}

pub(super) fn wake(server: &Arc<Server>, mut asked: RouteRequest) -> Answer {
    let request: Option<WakeRequest> =
        serde_json::from_value(asked.body.take()).map_err(no_sense)?;
    server.service.wake(request.unwrap_or_default())?;
    announce_service(server, asked)
}

fn announce_service(server: &Arc<Server>, asked: RouteRequest) -> Answer {
    server.tasks.hub.publish_change(&EventSource::default(), ChangedThing::Service);
    service(server, asked)
}

pub(super) fn stop(server: &Arc<Server>, _: RouteRequest) -> Answer {
    server.service.stop();
    Ok(StatusCode::NO_CONTENT.into_response())
}

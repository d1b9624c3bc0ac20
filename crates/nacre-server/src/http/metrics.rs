//! The server in numbers, in the text format that Prometheus reads.

use std::fmt::Write as _;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};
use nacre_api::wire::{DatabaseState, DatabaseStatus};
use nacre_ops::service::DatabaseMetrics;

use super::body::Body;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// What is told of a server.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) calls_begun: u64,
    pub(super) calls_running: usize,
    pub(super) listeners: usize,
    pub(super) is_paused: bool,
    /// Nothing where no database is shared, or it was not looked at yet.
    pub(super) database: Option<DatabaseStatus>,
    pub(super) of_database: Option<DatabaseMetrics>,
}

pub(super) fn answer(measured: &Measured) -> Response<Body> {
    let mut response = Response::new(Body::whole(render(measured).into_bytes()));
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}

/// A text with one family of numbers after the other.
#[derive(Default)]
struct Families(String);

impl Families {
    fn family(&mut self, name: &str, kind: &str, help: &str, values: &[(&str, u64)]) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.0, "# HELP nacre_{name} {help}\n# TYPE nacre_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "nacre_{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help, &[("", value)]);
    }
}

fn render(measured: &Measured) -> String {
    let mut text = Families::default();
    let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    text.family("info", "gauge", "The version of this server.", &[(&version, 1)]);
    let calls = [("", measured.calls_begun)];
    text.family("calls_total", "counter", "Calls that were begun.", &calls);
    text.gauge("calls_running", "Calls and turns that run or wait.", measured.calls_running as u64);
    text.gauge("listeners", "Clients that follow events.", measured.listeners as u64);
    text.gauge("paused", "Whether the loops are paused.", u64::from(measured.is_paused));
    if let Some(status) = &measured.database {
        render_status(&mut text, status);
    }
    if let Some(metrics) = &measured.of_database {
        render_metrics(&mut text, metrics);
    }
    text.0
}

fn render_status(text: &mut Families, status: &DatabaseStatus) {
    let states = [
        DatabaseState::Connected,
        DatabaseState::Slow,
        DatabaseState::Away,
        DatabaseState::Unusable,
    ];
    let labels = states.map(|state| format!("{{state=\"{}\"}}", state.as_str()));
    let values: Vec<(&str, u64)> = labels
        .iter()
        .zip(states)
        .map(|(label, state)| (label.as_str(), u64::from(status.state == state)))
        .collect();
    text.family("database_state", "gauge", "How the shared database is.", &values);
    let is_leader = u64::from(status.is_leader);
    text.gauge("database_leader", "Whether this server leads.", is_leader);
}

fn render_metrics(text: &mut Families, metrics: &DatabaseMetrics) {
    let DatabaseMetrics { pool, queue, oldest_seconds } = metrics;
    text.gauge("database_connections_max", "The most connections.", pool.max as u64);
    let connections =
        [("{state=\"busy\"}", pool.busy as u64), ("{state=\"idle\"}", pool.idle as u64)];
    text.family("database_connections", "gauge", "Connections of this server.", &connections);
    let sessions = [
        ("{state=\"pending\"}", queue.pending),
        ("{state=\"due\"}", queue.due),
        ("{state=\"dead\"}", queue.dead),
    ];
    text.family("queue_sessions", "gauge", "Sessions of the shared queue.", &sessions);
    let help = "For how long the oldest session waits.";
    text.gauge("queue_oldest_seconds", help, *oldest_seconds);
    let leases = [("{state=\"held\"}", queue.running), ("{state=\"expired\"}", queue.expired)];
    text.family("queue_leases", "gauge", "Leases on sessions of the shared queue.", &leases);
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn numbers_have_their_names_and_their_kinds() {
        let database = DatabaseStatus {
            state: DatabaseState::Slow,
            since: String::new(),
            is_leader: true,
            detail: Some("a secret".to_owned()),
        };
        let measured = Measured { calls_begun: 7, database: Some(database), ..Measured::default() };
        let text = render(&measured).replace(env!("CARGO_PKG_VERSION"), "[version]");
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with("# HELP")).collect();
        assert_snapshot!(values.join("\n"), @r#"
        # TYPE nacre_info gauge
        nacre_info{version="[version]"} 1
        # TYPE nacre_calls_total counter
        nacre_calls_total 7
        # TYPE nacre_calls_running gauge
        nacre_calls_running 0
        # TYPE nacre_listeners gauge
        nacre_listeners 0
        # TYPE nacre_paused gauge
        nacre_paused 0
        # TYPE nacre_database_state gauge
        nacre_database_state{state="connected"} 0
        nacre_database_state{state="slow"} 1
        nacre_database_state{state="away"} 0
        nacre_database_state{state="unusable"} 0
        # TYPE nacre_database_leader gauge
        nacre_database_leader 1
        "#);
    }
}

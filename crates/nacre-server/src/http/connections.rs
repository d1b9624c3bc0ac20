//! Accepts connections on a local port and, on Unix, on a socket. When the server is stopped,
//! active calls may finish within a time limit and are then cancelled.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nacre_ops::host::{Needs, OpenOptions};
use nacre_ops::service::{self, HeldService, LogLevel};
use nacre_types::ServeReport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::guard::{EntryPoint, Names};
use super::router::router;
use super::server::Server;
use super::service::Service;
use crate::people::TrustedProxy;
use crate::prelude::*;

pub const USUAL_PORT: u16 = 8765;

/// Maximum number of connections per listener. Event streams have their own limit, so that they
/// cannot use up all connections.
const MAX_CONNECTIONS: usize = 1280;
const HEADER_TIME: Duration = Duration::from_secs(5);
const MAX_HEADERS: usize = 64;
const INPUT_BYTES: usize = 32 << 10;
/// Time allowed for active calls to finish after the server is stopped, and for cancelled calls to
/// end.
const DRAIN: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(5);
const WORKERS: usize = 2;
const GIVE_BACK: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// TCP port to listen on; 0 selects any free port.
    pub port: u16,
    /// The proxies' public names, as `host:port`.
    pub names: Vec<String>,
    pub has_loops: bool,
}

/// Runs the server. Calls `ready` with the address once the server accepts requests.
pub fn serve(
    environment: Environment,
    options: &ServeOptions,
    ready: impl FnOnce(&ServeReport) -> Result<()>,
    stop: &Cancel,
) -> Result<()> {
    // A directory outside all projects, so that requests have no default project.
    let home = environment.nacre_home().unwrap_or_else(|| environment.folder.clone());
    let folder = home.ancestors().last().map_or(home.clone(), PathBuf::from);
    let environment = Environment { folder, ..environment };
    let actor = environment.actor();
    let open = OpenOptions { needs: Needs::Registered, actor, ..OpenOptions::default() };
    let host = Host::open(environment.clone(), &open).host?;
    // The server acts with the permissions of the machine's owner.
    host.check_user("start a server")?;
    let proxy = TrustedProxy::of(&host)?;
    service::hold(&host, |held| {
        nacre_ops::host::share_memory();
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let listener = bind(options.port).await?;
            let address =
                listener.local_addr().map_err(|error| cannot_listen(options.port, &error))?;
            let server = Server::new(
                environment.clone(),
                Names::new(address.port(), &options.names),
                held.token.clone(),
                proxy,
                Service::new(&environment, address, stop, options.has_loops)?,
                stop.clone(),
            )?;
            let server = Arc::new(server);
            let socket = open_socket(held);
            held.announce(&address.to_string())?;
            let path = socket.as_ref().map(|(path, _)| path.display().to_string());
            ready(&ServeReport { address: address.to_string(), socket: path })?;
            let (address, pid) = (address.to_string(), environment.pid.to_string());
            let version = env!("CARGO_PKG_VERSION");
            let fields = [("address", &*address), ("pid", &*pid), ("version", version)];
            service::log(&environment, LogLevel::Info, "start", &fields);
            server.service.start(&server.tasks);
            tokio::spawn(give_back_memory(Arc::clone(&server)));
            let router = router(&server);
            tokio::select! {
                () = accept_port(&listener, &router) => {}
                () = accept_socket(socket.map(|(_, listener)| listener), &router) => {}
                () = stop.cancelled() => {}
            }
            drain(&server).await;
            server.end().await;
            service::log(&environment, LogLevel::Info, "stop", &[("pid", &*pid)]);
            Ok(())
        });
        runtime.shutdown_timeout(END);
        served
    })
}

fn runtime() -> Result<Runtime> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    runtime.map_err(|error| OpError::failed("Cannot start the async runtime").because(error))
}

async fn give_back_memory(server: Arc<Server>) {
    let mut n_seen = 0;
    loop {
        tokio::time::sleep(GIVE_BACK).await;
        let n_begun = server.n_begun();
        if n_begun != std::mem::replace(&mut n_seen, n_begun) {
            // This takes a few milliseconds, during which memory allocations may block.
            let _ = tokio::task::spawn_blocking(nacre_ops::host::give_back_memory).await;
        }
    }
}

async fn drain(server: &Server) {
    const LOOK: Duration = Duration::from_millis(20);
    let until_idle = || async {
        while server.n_running() > 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    if tokio::time::timeout(DRAIN, until_idle()).await.is_err() {
        server.cancel_all();
        // Exiting the process stops calls that ignore cancellation. This is safe, because all
        // changes are atomic.
        let _ = tokio::time::timeout(END, until_idle()).await;
    }
}

async fn bind(port: u16) -> Result<TcpListener> {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    TcpListener::bind(address).await.map_err(|error| cannot_listen(port, &error))
}

fn cannot_listen(port: u16, error: &io::Error) -> OpError {
    OpError::new(ErrorCode::Unavailable, format!("Cannot listen on port {port}"))
        .because(error)
        .hint("If another program uses the port, choose any free one: nacre serve --port 0")
}

/// Accepts connections. The port and the socket have separate limits, so that other users on the
/// machine cannot exhaust the socket's connections.
async fn accept<S, C: Future<Output = ()> + Send + 'static>(
    mut next: impl AsyncFnMut() -> io::Result<Option<S>>,
    converse: impl Fn(S) -> C,
) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        match next().await {
            Ok(Some(stream)) => {
                let conversation = converse(stream);
                tokio::spawn(async move {
                    conversation.await;
                    drop(permit);
                });
            }
            Ok(None) => {}
            // There are too many open files, or the client has disconnected.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn accept_port(listener: &TcpListener, router: &Router) {
    let next = async || {
        let (stream, peer) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        Ok(Some((stream, EntryPoint::Port(peer.ip()))))
    };
    accept(next, |(stream, entry)| converse(stream, entry, router.clone())).await;
}

#[cfg(unix)]
type SocketListener = tokio::net::UnixListener;

/// Returns `None` on failure, in which case clients use the port.
#[cfg(unix)]
fn open_socket(held: &HeldService<'_>) -> Option<(PathBuf, SocketListener)> {
    let path = held.socket_path()?;
    let listener = tokio::net::UnixListener::bind(&path).ok()?;
    Some((path, listener))
}

#[cfg(unix)]
async fn accept_socket(listener: Option<SocketListener>, router: &Router) {
    let Some(listener) = listener else { return std::future::pending().await };
    let next = async || {
        let (stream, _) = listener.accept().await?;
        // The directory is private, but the peer's user is checked as well.
        Ok(stream
            .peer_cred()
            .is_ok_and(|peer| nacre_ops::host::is_own_user(peer.uid()))
            .then_some(stream))
    };
    accept(next, |stream| converse(stream, EntryPoint::Socket, router.clone())).await;
}

#[cfg(not(unix))]
type SocketListener = std::convert::Infallible;

#[cfg(not(unix))]
fn open_socket(_held: &HeldService<'_>) -> Option<(PathBuf, SocketListener)> {
    None
}

#[cfg(not(unix))]
async fn accept_socket(_listener: Option<SocketListener>, _router: &Router) {
    std::future::pending().await
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    entry: EntryPoint,
    router: Router,
) {
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(entry);
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_headers(MAX_HEADERS)
        .max_buf_size(INPUT_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    // Ignore errors, because a client may close the connection at any time.
    let _ = connection.with_upgrades().await;
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn strangers_on_one_entry_do_not_close_another() {
        let (arrived, mut n_port) = unbounded_channel();
        // Connections to this port stay open.
        let port = accept(
            async || Ok(Some(())),
            |()| {
                arrived.send(()).unwrap();
                pending()
            },
        );
        let (answered, mut from_socket) = unbounded_channel();
        let socket = accept(
            async || Ok(Some(())),
            |()| {
                let answered = answered.clone();
                async move { answered.send(()).unwrap() }
            },
        );
        let all = async {
            for _ in 0..MAX_CONNECTIONS {
                n_port.recv().await.unwrap();
            }
            for _ in 0..MAX_CONNECTIONS * 2 {
                from_socket.recv().await.unwrap();
            }
            assert!(n_port.try_recv().is_err(), "no more than the bound");
        };
        tokio::select! {
            () = port => panic!("the entry ended"),
            () = socket => panic!("the entry ended"),
            () = all => {}
        }
    }
}

//! Listens on a port of this machine, and where the system has them on a socket file, until it is told to stop.
//!
//! Every connection has bounds: how long its headers may take, how large they may be, how many there may be at once. A stop lets
//! what runs end for a while, then cancels it; what was not finished is taken up the next time.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nacre_api::wire::ErrorCode;
use nacre_ops::host::{Environment, Needs, OpenOptions};
use nacre_ops::service::{self, HeldService, LogLevel};
use nacre_ops::{Cancel, Host, OpError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::access::{Keys, secret};
use super::guard::{Entry, Names};
use super::server::Server;
use super::service::Service;
use crate::people::{People, TrustedProxy};

/// The port that is tried where none is named.
pub const USUAL_PORT: u16 = 8765;

/// Connections of one entry at the same time: as many as may listen for events, and room for requests beside them.
const MAX_CONNECTIONS: usize = 1280;
/// How long a client may take to say what it wants.
const HEADER_TIME: Duration = Duration::from_secs(5);
const MAX_HEADERS: usize = 64;
/// What is held of a connection's input.
const INPUT_BYTES: usize = 32 << 10;
/// How long what runs may go on after a stop, and how long it then has to end.
const DRAIN: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(5);
const WORKERS: usize = 2;
/// How often memory that calls no longer need goes back to the system.
const GIVE_BACK: Duration = Duration::from_secs(20);

/// How the server is to listen.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// 0 for any that is free.
    pub port: u16,
    /// Names that a proxy of the person's asks by, as `host:port`.
    pub names: Vec<String>,
    /// Whether it syncs and maintains by itself.
    pub has_loops: bool,
}

/// Where the server listens.
#[derive(Clone, Debug)]
pub struct Bound {
    pub address: SocketAddr,
    pub socket: Option<PathBuf>,
}

/// Told where, once the server can be asked.
type Ready<'r> = &'r mut dyn FnMut(&Bound) -> Result<(), OpError>;

/// Serves until `stop`. `ready` is told where, once it can be asked.
pub fn serve(
    environment: Environment,
    options: &ServeOptions,
    ready: Ready<'_>,
    stop: &Cancel,
) -> Result<(), OpError> {
    let environment = Environment { folder: outside(&environment), ..environment };
    let open = OpenOptions { needs: Needs::Registered, ..OpenOptions::default() };
    let host = Host::open(environment.clone(), &open).host?;
    let proxy = TrustedProxy::of(&host)?;
    service::hold(&host, |held| {
        nacre_ops::host::share_memory();
        let runtime = runtime()?;
        let served = runtime.block_on(listen(environment, options, (held, proxy), (ready, stop)));
        runtime.shutdown_timeout(END);
        served
    })
}

/// A folder that is in no project, so that none is taken for the one around.
fn outside(environment: &Environment) -> PathBuf {
    let folder = environment.nacre_home().unwrap_or_else(|| environment.folder.clone());
    folder.ancestors().last().map_or(folder.clone(), PathBuf::from)
}

fn runtime() -> Result<Runtime, OpError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    runtime.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("Cannot start the async runtime")
    })
}

async fn listen(
    environment: Environment,
    options: &ServeOptions,
    (held, proxy): (&HeldService<'_>, Option<TrustedProxy>),
    (ready, stop): (Ready<'_>, &Cancel),
) -> Result<(), OpError> {
    let listener = bind(options.port).await?;
    let address = listener.local_addr().map_err(|error| cannot_listen(options.port, &error))?;
    let names = Names::new(address.port(), &options.names);
    let keys = Keys::new(held.token().to_owned(), &environment);
    let boot: String = secret(environment.random)?.chars().take(8).collect();
    let boot = (boot, secret(environment.random)?);
    let service = Service::new(&environment, address, stop.clone(), options.has_loops)?;
    let people = (People::new(environment.clone()), proxy);
    let log = environment.clone();
    let server = Server::new(environment, (names, keys), people, (boot, service), stop.clone());
    let server = Arc::new(server);
    let socket = open_socket(held);
    held.announce(&address.to_string())?;
    let bound = Bound { address, socket: socket.as_ref().map(|(path, _)| path.clone()) };
    ready(&bound)?;
    let (pid, version) = (log.pid.to_string(), env!("CARGO_PKG_VERSION"));
    let fields = [("address", &*address.to_string()), ("pid", &*pid), ("version", version)];
    service::log(&log, LogLevel::Info, "start", &fields);
    server.start_loops();
    tokio::spawn(give_back_memory(Arc::clone(&server)));
    tokio::select! {
        () = accept_port(&listener, &server) => {}
        () = accept_socket(socket.map(|(_, listener)| listener), &server) => {}
        () = stop.cancelled() => {}
    }
    drain(&server).await;
    server.end().await;
    service::log(&log, LogLevel::Info, "stop", &[("pid", &*pid)]);
    Ok(())
}

/// Gives memory back now and then, as long as there are calls.
async fn give_back_memory(server: Arc<Server>) {
    let mut n_seen = 0;
    loop {
        tokio::time::sleep(GIVE_BACK).await;
        let n_begun = server.n_begun();
        if n_begun != std::mem::replace(&mut n_seen, n_begun) {
            // It takes a few milliseconds, in which others may wait for memory.
            let _ = tokio::task::spawn_blocking(nacre_ops::host::give_back_memory).await;
        }
    }
}

/// Lets what runs end by itself for a while, then cancels it.
async fn drain(server: &Server) {
    const LOOK: Duration = Duration::from_millis(20);
    let until_idle = || async {
        while server.n_running() > 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    if tokio::time::timeout(DRAIN, until_idle()).await.is_err() {
        server.cancel_all();
        // What does not hear it ends with the process; every change is a journaled whole.
        let _ = tokio::time::timeout(END, until_idle()).await;
    }
}

async fn bind(port: u16) -> Result<TcpListener, OpError> {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    TcpListener::bind(address).await.map_err(|error| cannot_listen(port, &error))
}

fn cannot_listen(port: u16, error: &io::Error) -> OpError {
    let error = OpError {
        code: ErrorCode::Unavailable,
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot listen on port {port}"))
    };
    error.hint("Another program listens there? Take a free one: nacre serve --port 0")
}

/// Serves what comes in by one entry. Each has its own bound, so that strangers on the port do not keep the owner from the
/// socket file.
async fn accept<S, C>(
    mut next: impl AsyncFnMut() -> io::Result<Option<S>>,
    converse: impl Fn(S) -> C,
) where
    C: Future<Output = ()> + Send + 'static,
{
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
            // Too many open files, or a client that went away.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn accept_port(listener: &TcpListener, server: &Arc<Server>) {
    let next = async || {
        let (stream, peer) = listener.accept().await?;
        // Small answers are not held back.
        let _ = stream.set_nodelay(true);
        Ok(Some((stream, peer)))
    };
    let converse = |(stream, peer): (_, SocketAddr)| {
        converse(stream, Entry::Port(peer.ip()), Arc::clone(server))
    };
    accept(next, converse).await;
}

#[cfg(unix)]
type SocketListener = tokio::net::UnixListener;

/// The socket file, for processes of the same user. A server without it is reached by its port.
#[cfg(unix)]
fn open_socket(held: &HeldService<'_>) -> Option<(PathBuf, SocketListener)> {
    let path = held.socket_path()?;
    let listener = tokio::net::UnixListener::bind(&path).ok()?;
    Some((path, listener))
}

#[cfg(unix)]
async fn accept_socket(listener: Option<SocketListener>, server: &Arc<Server>) {
    let Some(listener) = listener else { return std::future::pending().await };
    let next = async || {
        let (stream, _) = listener.accept().await?;
        // The folder is closed to others; the system says once more who it is.
        Ok(is_same_user(&stream).then_some(stream))
    };
    accept(next, |stream| converse(stream, Entry::Socket, Arc::clone(server))).await;
}

#[cfg(unix)]
fn is_same_user(stream: &tokio::net::UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| nacre_ops::host::is_own_user(peer.uid()))
}

#[cfg(not(unix))]
type SocketListener = Infallible;

#[cfg(not(unix))]
fn open_socket(_held: &HeldService<'_>) -> Option<(PathBuf, SocketListener)> {
    None
}

#[cfg(not(unix))]
async fn accept_socket(_listener: Option<SocketListener>, _server: &Arc<Server>) {
    std::future::pending().await
}

/// Answers the requests of one connection.
async fn converse<S>(stream: S, entry: Entry, server: Arc<Server>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.answer(entry, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_headers(MAX_HEADERS)
        .max_buf_size(INPUT_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    // A client that breaks off is no error of the server.
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
        // Connections that never end.
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

//! Model servers that never finish a response.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::repositories::{Maker, repository};
use super::{Site, Verbs};
use crate::AnyError;

#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Sends one header per second forever.
    Headers,
    /// Sends one character of the body per second forever.
    Drip,
    /// Accepts the connection and sends nothing.
    Silence,
}

pub(super) struct Servers {
    addresses: Vec<(&'static str, String)>,
}

pub(super) fn start() -> Result<Servers, AnyError> {
    let mut addresses = Vec::new();
    for (name, manner) in [
        ("server-headers", Manner::Headers),
        ("server-drip", Manner::Drip),
        ("server-silence", Manner::Silence),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        addresses.push((name, listener.local_addr()?.to_string()));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(stream, manner));
            }
        });
    }
    Ok(Servers { addresses })
}

/// Sends until the client disconnects or a minute has passed.
fn serve(mut stream: TcpStream, manner: Manner) -> std::io::Result<()> {
    let mut request = [0; 1 << 14];
    let _ = stream.read(&mut request)?;
    let (begin, more): (&[u8], &[u8]) = match manner {
        Manner::Headers => (b"HTTP/1.1 200 OK\r\n", b"x-more: x\r\n"),
        Manner::Drip => {
            (b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", b": drip\n")
        }
        Manner::Silence => (b"", b""),
    };
    stream.write_all(begin)?;
    for _ in 0..60 {
        thread::sleep(Duration::from_secs(1));
        stream.write_all(more)?;
    }
    Ok(())
}

pub(super) fn makers(servers: &Servers) -> Vec<(&'static str, Maker)> {
    let maker = |(name, address): &(&'static str, String)| {
        let config = format!(
            "[providers.slow]\napi = \"openai\"\nbase_url = \"http://{address}/v1\"\n[roles.default]\nmodel = \"slow/x\"\n[limits]\nmodel_seconds = 2\n"
        );
        let make: Maker = Box::new(move |name, victims| {
            repository(victims)?;
            std::fs::create_dir_all(victims.site().join(".nacre/memory/decisions"))?;
            let root = victims.site();
            let home_config = config.clone();
            Ok(Site { name: name.to_owned(), root, home_config, verbs: Verbs::Model })
        });
        (*name, make)
    };
    servers.addresses.iter().map(maker).collect()
}

//! A minimal WebSocket client that can also send invalid messages.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::serve::Served;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;

/// The bit that marks a message's last frame.
const LAST: u8 = 0x80;

pub(crate) struct WebSocket {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl WebSocket {
    pub(crate) fn open(served: &Served) -> Self {
        Self::open_as(served, &served.token)
    }

    pub(crate) fn open_as(served: &Served, token: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        let head = format!(
            "GET /rpc HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            served.address, token
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
        Self { stream, reader }
    }

    /// Sends a complete message as one frame.
    pub(crate) fn send(&mut self, opcode: u8, payload: &[u8]) -> io::Result<()> {
        self.frame(LAST | opcode, payload)
    }

    /// Sends one frame with the given first byte.
    pub(crate) fn frame(&mut self, first: u8, payload: &[u8]) -> io::Result<()> {
        let mut frame = vec![first];
        match payload.len() {
            n @ 0..126 => frame.push(0x80 | u8::try_from(n).unwrap()),
            n @ 126..65_536 => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(n).unwrap().to_be_bytes());
            }
            n => {
                frame.push(0x80 | 127);
                frame.extend((n as u64).to_be_bytes());
            }
        }
        // A mask of zeros leaves the payload unchanged.
        frame.extend([0; 4]);
        frame.extend_from_slice(payload);
        self.raw(&frame)
    }

    /// Sends raw bytes.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Returns the server's next message, or `None` if the server closes the connection.
    pub(crate) fn receive(&mut self) -> io::Result<Option<String>> {
        loop {
            let mut head = [0; 2];
            self.reader.read_exact(&mut head)?;
            let length = match head[1] {
                126 => {
                    let mut bytes = [0; 2];
                    self.reader.read_exact(&mut bytes)?;
                    u64::from(u16::from_be_bytes(bytes))
                }
                127 => {
                    let mut bytes = [0; 8];
                    self.reader.read_exact(&mut bytes)?;
                    u64::from_be_bytes(bytes)
                }
                n => u64::from(n),
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.reader.read_exact(&mut payload)?;
            match head[0] & 0x0f {
                TEXT => return Ok(Some(String::from_utf8(payload).unwrap())),
                CLOSE => return Ok(None),
                // Ignore pings and pongs.
                PING | 10 => {}
                other => panic!("the server sent a frame of kind {other}"),
            }
        }
    }
}

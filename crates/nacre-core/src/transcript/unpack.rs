//! A compressed trace as a stream of its content.
//!
//! A frame that is damaged or cut ends the stream instead of failing it: what came before is good.

use std::fs::File;
use std::io::{self, BufReader, Read};

use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

pub(super) struct Unpacked<'a> {
    decoder: StreamingDecoder<BufReader<&'a File>, FrameDecoder>,
}

impl<'a> Unpacked<'a> {
    pub(super) fn new(file: &'a File) -> io::Result<Self> {
        let decoder = StreamingDecoder::new(BufReader::new(file))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        Ok(Self { decoder })
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.decoder.read(buffer).unwrap_or(0))
    }
}

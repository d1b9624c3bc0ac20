//! Tests that lines are read correctly however the input is split into chunks.

use std::io::{self, Read};

use proptest::prelude::*;

use super::*;

struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: Vec<usize>,
    next: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.next % self.sizes.len()].clamp(1, buffer.len().max(1));
        self.next += 1;
        let size = size.min(self.bytes.len()).min(buffer.len());
        buffer[..size].copy_from_slice(&self.bytes[..size]);
        self.bytes = &self.bytes[size..];
        Ok(size)
    }
}

struct Endless {
    head: &'static [u8],
    fill: u8,
    left: usize,
    tail: &'static [u8],
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        if 0 < self.left {
            let size = buffer.len().min(self.left);
            buffer[..size].fill(self.fill);
            self.left -= size;
            return Ok(size);
        }
        self.tail.read(buffer)
    }
}

#[test]
fn a_line_beyond_the_cap_keeps_its_beginning() {
    let stream = Endless { head: b"[1", fill: b',', left: 3 * LINE_CAP, tail: b"]\nnext\n" };
    let mut reader = LineReader::new(stream, 0, 0);
    let line = reader.next_line().unwrap().unwrap();
    assert_eq!((line.is_cut, line.bytes.len()), (true, CUT_HEAD));
    assert_eq!(line.next_offset, 3 * LINE_CAP as u64 + 4);
    let line = reader.next_line().unwrap().unwrap();
    assert_eq!((line.is_cut, line.bytes), (false, &b"next"[..]));
    assert_eq!(reader.buffer.len(), LINE_CAP);
    assert!(reader.next_line().unwrap().is_none());
}

#[test]
fn pipes_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    assert!(matches!(open_regular(&pipe), Err(Error::NotAFile { .. })));
    assert!(matches!(open_regular(folder.path()), Err(Error::NotAFile { .. })));
    assert!(matches!(open_regular(Path::new("/dev/zero")), Err(Error::NotAFile { .. })));
    assert!(matches!(open_regular(&folder.path().join("gone")), Err(Error::Open { .. })));
}

proptest! {
    #[test]
    fn lines_are_what_lies_between_newlines(
        bytes in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..2000),
        sizes in prop::collection::vec(1_usize..300, 1..6),
    ) {
        let mut reader = LineReader::new(Pieces { bytes: &bytes, sizes, next: 0 }, 100, 7);
        let mut offset = 100;
        let mut read = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            prop_assert_eq!(line.offset, offset);
            prop_assert_eq!(line.number, 8 + read.len() as u64);
            offset = line.next_offset;
            if !line.is_torn {
                prop_assert_eq!(offset, line.offset + line.bytes.len() as u64 + 1);
            }
            read.push(line.bytes.to_vec());
        }
        let mut expected: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if expected.last().is_some_and(Vec::is_empty) {
            expected.pop();
        }
        prop_assert_eq!(read, expected);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file with a hole is what is tested")]
fn a_file_that_is_mostly_a_hole_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let lengthened = |length: u64| {
        std::fs::write(&path, b"{}\n").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        open_regular(&path)
    };
    assert!(lengthened(1 << 20).is_ok());
    let error = lengthened(1 << 40).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
    // Data after the hole does not matter.
    std::os::unix::fs::FileExt::write_all_at(
        &std::fs::File::options().write(true).open(&path).unwrap(),
        b"{}\n",
        1 << 39,
    )
    .unwrap();
    assert!(open_regular(&path).is_err());
    // The file is read from its start.
    let mut content = String::new();
    std::io::Read::read_to_string(&mut lengthened(3).unwrap(), &mut content).unwrap();
    assert_eq!(content, "{}\n");
}

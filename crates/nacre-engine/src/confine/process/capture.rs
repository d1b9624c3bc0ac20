//! Captures program output in bounded memory: the beginning, the end and the total size.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How many bytes to keep from the start and the end of each output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputCaps {
    pub head: usize,
    pub tail: usize,
}

impl Default for OutputCaps {
    fn default() -> Self {
        Self { head: 64 << 10, tail: 192 << 10 }
    }
}

/// Program output, with the middle omitted if it is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Total bytes written, including dropped ones.
    pub total: u64,
}

impl Captured {
    fn push(&mut self, bytes: &[u8], caps: OutputCaps) {
        self.total += bytes.len() as u64;
        let n_head = bytes.len().min(caps.head - self.head.len());
        self.head.extend_from_slice(&bytes[..n_head]);
        self.tail.extend(&bytes[n_head..]);
        let n_over = self.tail.len().saturating_sub(caps.tail);
        self.tail.drain(..n_over);
    }

    pub fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    fn to_bytes(&self) -> Vec<u8> {
        let (front, back) = self.tail.as_slices();
        [&self.head, front, back].concat()
    }

    pub(crate) fn last(&self, n: usize) -> Vec<u8> {
        let kept = self.to_bytes();
        kept[kept.len().saturating_sub(n)..].to_vec()
    }

    pub fn text(&self) -> String {
        let kept = self.to_bytes();
        let gap = self.left_out();
        if gap == 0 {
            return String::from_utf8_lossy(&kept).into_owned();
        }
        let (head, tail) = kept.split_at(self.head.len());
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n[… {gap} bytes omitted …]\n{tail}")
    }
}

/// Output that can be read while the program is running. Clones share the same output.
#[derive(Clone, Debug, Default)]
pub struct LiveOutput(Arc<Mutex<Captured>>);

impl LiveOutput {
    pub(crate) fn so_far(&self) -> Captured {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads until the end of the output. An error is treated as the end.
    pub(super) async fn read(&self, mut source: impl AsyncRead + Unpin, caps: OutputCaps) {
        let mut buffer = vec![0; 32 << 10];
        while let Ok(n_read @ 1..) = source.read(&mut buffer).await {
            let mut captured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            captured.push(&buffer[..n_read], caps);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn capture(chunks: &[Vec<u8>], caps: OutputCaps) -> Captured {
        let mut captured = Captured::default();
        for chunk in chunks {
            captured.push(chunk, caps);
        }
        captured
    }

    #[test]
    fn the_middle_of_a_long_output_is_named_and_not_kept() {
        let caps = OutputCaps { head: 4, tail: 3 };
        let chunks = [b"abcdef".to_vec(), b"ghijkl".to_vec()];
        let long = capture(&chunks, caps);
        assert_eq!(long.text(), "abcd\n[… 5 bytes omitted …]\njkl");
        assert_eq!(capture(&[b"abcdefg".to_vec()], caps).text(), "abcdefg");
    }

    proptest! {
        #[test]
        fn however_it_arrives_the_same_is_kept(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
            head in 0..30_usize,
            tail in 0..30_usize,
        ) {
            let caps = OutputCaps { head, tail };
            let whole = chunks.concat();
            let pieces = capture(&chunks, caps);
            let (front, back) = pieces.tail.as_slices();
            let end = [front, back].concat();
            prop_assert_eq!(pieces.total, whole.len() as u64);
            prop_assert!(whole.starts_with(&pieces.head));
            prop_assert!(whole.ends_with(&end));
            prop_assert_eq!(pieces.head.len(), whole.len().min(head));
            prop_assert_eq!(end.len(), (whole.len() - pieces.head.len()).min(tail));
        }
    }
}

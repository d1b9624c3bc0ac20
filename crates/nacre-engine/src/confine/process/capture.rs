//! Output of any length in bounded memory: how it began, how it ended, and how much it was.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::order::OutputCaps;

/// What a program wrote, without its middle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes that were written, those that were not kept included.
    pub total: u64,
}

impl Captured {
    /// Reads to the end, or to the first failure, which here is an end as well.
    pub(super) async fn read(mut source: impl AsyncRead + Unpin, caps: OutputCaps) -> Self {
        let mut captured = Self::default();
        let mut buffer = vec![0; 32 << 10];
        while let Ok(n_read @ 1..) = source.read(&mut buffer).await {
            captured.push(&buffer[..n_read], caps);
        }
        captured
    }

    fn push(&mut self, bytes: &[u8], caps: OutputCaps) {
        self.total += bytes.len() as u64;
        let n_head = bytes.len().min(caps.head - self.head.len());
        self.head.extend_from_slice(&bytes[..n_head]);
        self.tail.extend(&bytes[n_head..]);
        let n_over = self.tail.len().saturating_sub(caps.tail);
        self.tail.drain(..n_over);
    }

    /// Bytes that were written and not kept.
    pub fn left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The text, with a line where something is missing.
    pub fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let kept: Vec<u8> = [&self.head, front, back].concat();
        if self.left_out() == 0 {
            return String::from_utf8_lossy(&kept).into_owned();
        }
        let (head, tail) = kept.split_at(self.head.len());
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let gap = self.left_out();
        format!("{head}\n[… {gap} bytes left out …]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(chunks: &[Vec<u8>], caps: OutputCaps) -> Captured {
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
        let long = captured(&chunks, caps);
        assert_eq!(long.text(), "abcd\n[… 5 bytes left out …]\njkl");
        assert_eq!(captured(&[b"abcdefg".to_vec()], caps).text(), "abcdefg");
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
            let pieces = captured(&chunks, caps);
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

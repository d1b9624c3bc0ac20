//! Which segments are the index, and which of their units no longer count.
//!
//! Replacing this one file is what makes a change visible: a reader sees the index before it or after.

use super::container::{Builder, Bytes, Container, Strings, StringsBuilder, u32_at, u64_at};

/// A segment's file, and what is dead in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: u64,
    /// Units that were replaced or removed, sorted.
    pub(super) dead: Vec<u32>,
}

/// The state of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The model that made the vectors; vectors of two models are never compared.
    pub(super) model: String,
    pub(super) dims: u32,
    /// What the last look at the sources saw besides the units' own stamps.
    pub(super) watermark: u64,
    pub(super) parts: Vec<Part>,
}

impl Manifest {
    pub(super) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let container = Container::open(Bytes::Held(bytes))?;
        let head = container.section(0);
        let mut parts = Vec::new();
        let lists = Strings::new(&container, 2);
        for idx in 0..lists.len() {
            let dead = lists.get(idx).chunks_exact(4).filter_map(|bytes| u32_at(bytes, 0));
            let mut dead: Vec<u32> = dead.collect();
            dead.sort_unstable();
            // The last number has no next one.
            let number = u64_at(head, 12 + idx * 8).filter(|number| *number < u64::MAX)?;
            parts.push(Part { number, dead });
        }
        Some(Self {
            model: String::from_utf8(container.section(1).to_vec()).ok()?,
            dims: u32_at(head, 0)?,
            watermark: u64_at(head, 4)?,
            parts,
        })
    }

    pub(super) fn render(&self) -> Vec<u8> {
        let mut head = self.dims.to_le_bytes().to_vec();
        head.extend(self.watermark.to_le_bytes());
        let mut lists = StringsBuilder::default();
        for part in &self.parts {
            head.extend(part.number.to_le_bytes());
            let dead: Vec<u8> = part.dead.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            lists.push(&dead);
        }
        let file = Builder::default().section(head).section(self.model.as_bytes().to_vec());
        lists.into_sections(file).finish()
    }

    /// A number that no part has.
    pub(super) fn next_number(&self) -> u64 {
        self.parts.iter().map(|part| part.number + 1).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let manifest = Manifest {
            model: "builtin-1".to_owned(),
            dims: 256,
            watermark: 7,
            parts: vec![Part { number: 3, dead: vec![1, 9] }, Part { number: 8, dead: vec![] }],
        };
        assert_eq!(Manifest::parse(manifest.render()), Some(manifest.clone()));
        assert_eq!(manifest.next_number(), 9);
        assert_eq!(Manifest::parse(Vec::new()), None);
    }
}

//! Numbers and texts as bytes: short numbers take one byte, texts follow their length.
//!
//! Reading is total: bytes that nobody wrote read as `None`, never as a panic and never as a large allocation.

/// Room for so many items of a list is made before they are read.
const MAX_RESERVED: u64 = 256;

/// Builds a record.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// Goes on behind what is there.
    pub(crate) fn onto(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number as u8) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A number whose bytes are all used, such as a hash or a time.
    pub(crate) fn word(&mut self, word: u64) {
        self.bytes.extend(word.to_le_bytes());
    }

    pub(crate) fn time(&mut self, nanos: i64) {
        self.word(nanos.cast_unsigned());
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    pub(crate) fn option(&mut self, word: Option<u64>) {
        self.byte(u8::from(word.is_some()));
        if let Some(word) = word {
            self.word(word);
        }
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            one(self, item);
        }
    }
}

/// Reads a record.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn word(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub(crate) fn time(&mut self) -> Option<i64> {
        self.word().map(u64::cast_signed)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let len = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.take(len)?).ok()
    }

    pub(crate) fn skip_text(&mut self) -> Option<()> {
        let len = usize::try_from(self.number()?).ok()?;
        self.take(len).map(|_| ())
    }

    pub(crate) fn option(&mut self) -> Option<Option<u64>> {
        match self.byte()? {
            0 => Some(None),
            1 => self.word().map(Some),
            _ => None,
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let n_items = self.number()?;
        // Each item takes a byte at least, so that no length that was made up allocates anything.
        if (self.bytes.len() as u64) < n_items {
            return None;
        }
        // A length that was made up costs no more than this, either.
        let mut items = Vec::with_capacity(n_items.min(MAX_RESERVED) as usize);
        for _ in 0..n_items {
            items.push(one(self)?);
        }
        Some(items)
    }
}

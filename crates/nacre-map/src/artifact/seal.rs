//! Encrypts cache files with AES-GCM. The file name is the associated data.
//!
//! Each file has its own key, derived from the master key and a salt. The salt is derived from the
//! file's name and content, so writing needs no randomness, and only identical files share a salt.
//! Files that were modified, renamed or encrypted with another key are treated as missing.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;

const MAGIC: [u8; 8] = *b"NACRESEA";

const SALT_BYTES: usize = 32;

/// Length of the hash that replaces a file name.
const NAME_BYTES: usize = 8;

const BODY_AT: usize = MAGIC.len() + SALT_BYTES;

#[derive(Clone)]
pub struct Seal {
    master: hmac::Key,
}

impl Seal {
    pub const KEY_BYTES: usize = 32;

    /// `key` must be random.
    pub fn new(key: &[u8; Self::KEY_BYTES]) -> Self {
        Self { master: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    pub(super) fn close(&self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let length = (name.len() as u64).to_le_bytes();
        let salt = self.sign(&[b"salt\0", &length, name.as_bytes(), bytes]);
        let mut file = Vec::with_capacity(BODY_AT + bytes.len() + AES_256_GCM.tag_len());
        file.extend(MAGIC);
        file.extend(salt.as_ref());
        file.extend(bytes);
        let tag = self.key_of(salt.as_ref()).and_then(|key| {
            let nonce = Nonce::assume_unique_for_key([0; 12]);
            let body = &mut file[BODY_AT..];
            key.seal_in_place_separate_tag(nonce, Aad::from(name.as_bytes()), body).ok()
        });
        // If encryption fails, the file is left empty instead of being written as plain text. An
        // empty file is treated as missing.
        let Some(tag) = tag else { return Vec::new() };
        file.extend(tag.as_ref());
        file
    }

    /// Decrypts the file `name` in place. Returns `None` if it is not authentic.
    pub(super) fn open(&self, name: &str, mut file: Vec<u8>) -> Option<Vec<u8>> {
        let salt: [u8; SALT_BYTES] = *file.strip_prefix(&MAGIC)?.first_chunk()?;
        let key = self.key_of(&salt)?;
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        let aad = Aad::from(name.as_bytes());
        let n_bytes = key.open_within(nonce, aad, &mut file, BODY_AT..).ok()?.len();
        file.truncate(n_bytes);
        Some(file)
    }

    pub(super) fn name(&self, name: &str) -> String {
        let tag = self.sign(&[b"name\0", name.as_bytes()]);
        tag.as_ref().iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns a file's key. Each key encrypts only one piece of data, so the nonce can be
    /// constant.
    fn key_of(&self, salt: &[u8]) -> Option<LessSafeKey> {
        let key = UnboundKey::new(&AES_256_GCM, self.sign(&[b"file\0", salt]).as_ref()).ok()?;
        Some(LessSafeKey::new(key))
    }

    fn sign(&self, parts: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.master);
        parts.iter().for_each(|part| context.update(part));
        context.sign()
    }
}

nacre_base::debug_only!(Seal {});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_under_its_name_and_key_alone() {
        let (seal, other) = (Seal::new(&[1; 32]), Seal::new(&[2; 32]));
        let file = seal.close("a/base-1", b"pub fn pearl()");
        assert_eq!(file.len(), 14 + BODY_AT + AES_256_GCM.tag_len());
        assert_eq!(seal.open("a/base-1", file.clone()).as_deref(), Some(&b"pub fn pearl()"[..]));
        assert_eq!(seal.open("a/base-2", file.clone()), None);
        assert_eq!(other.open("a/base-1", file.clone()), None);
        assert!(!file.windows(5).any(|part| part == b"pearl"));
        for at in 0..file.len() {
            let mut bytes = file.clone();
            bytes[at] ^= 1;
            assert_eq!(seal.open("a/base-1", bytes), None, "byte {at}");
            assert_eq!(seal.open("a/base-1", file[..at].to_vec()), None, "cut at {at}");
        }
    }

    #[test]
    fn no_two_files_share_a_salt() {
        let seal = Seal::new(&[1; 32]);
        let salt = |name, bytes| seal.close(name, bytes)[8..40].to_vec();
        assert_ne!(salt("a", b"x"), salt("a", b"y"));
        assert_ne!(salt("a", b"x"), salt("b", b"x"));
        assert_ne!(salt("ab", b"c"), salt("a", b"bc"));
        assert_eq!(salt("a", b"x"), salt("a", b"x"));
    }
}

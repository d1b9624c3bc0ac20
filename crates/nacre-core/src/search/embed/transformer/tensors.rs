//! Reads a safetensors file: a length, a JSON table of names and places, then the raw numbers.
//!
//! Every place is checked against the file before it is used, because the table is a stranger's.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::damaged;
use crate::search::embed::EmbedError;

/// No model's table is larger.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// The tensors of a file.
pub(super) struct Tensors<'a> {
    /// What is said of each; not all of it is about a tensor.
    table: BTreeMap<String, serde_json::Value>,
    data: &'a [u8],
}

/// What a tensor is and where it lies.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl<'a> Tensors<'a> {
    /// Takes `bytes` as a file of tensors.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, EmbedError> {
        let cut_off = || damaged("the tensor file is cut off");
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut_off)?;
        let length = u64::from_le_bytes(*length);
        if length > MAX_HEADER_BYTES {
            return Err(damaged("it is not a tensor file"));
        }
        let length = usize::try_from(length).map_err(|_| cut_off())?;
        let (header, data) = rest.split_at_checked(length).ok_or_else(cut_off)?;
        let table = serde_json::from_slice(header)
            .map_err(|_| damaged("its table of tensors is no JSON"))?;
        Ok(Self { table, data })
    }

    /// The numbers of the tensor `name`, which must have this shape.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let entry = self.table.get(name).and_then(|entry| Entry::deserialize(entry).ok());
        let Some(Entry { dtype, shape: found, data_offsets: [first, end] }) = entry else {
            return Err(damaged("a tensor is missing"));
        };
        if dtype != "F32" || found != shape {
            return Err(damaged("a tensor has another shape"));
        }
        let bytes = self.data.get(first..end).ok_or(damaged("a tensor lies outside the file"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() != shape.iter().product::<usize>() {
            return Err(damaged("a tensor is not as long as its shape"));
        }
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

/// Writes a tensor file, for tests of what reads one.
#[cfg(test)]
pub(super) fn write(tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<u8> {
    let mut table = serde_json::Map::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, shape, numbers) in tensors {
        let first = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [first, data.len()]});
        table.insert(name.clone(), entry);
    }
    table.insert("__metadata__".to_owned(), serde_json::json!({"format": "pt"}));
    let header = serde_json::to_vec(&table).unwrap();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file() -> Vec<u8> {
        write(&[("a".to_owned(), vec![2], vec![1.0, 2.0]), ("b".to_owned(), vec![1], vec![3.0])])
    }

    #[test]
    fn tensors_are_found_by_name_and_shape() {
        let bytes = file();
        let tensors = Tensors::read(&bytes).unwrap();
        assert_eq!(tensors.get("a", &[2]).unwrap(), [1.0, 2.0]);
        assert_eq!(tensors.get("b", &[1]).unwrap(), [3.0]);
        assert!(tensors.get("a", &[1, 2]).is_err());
        assert!(tensors.get("c", &[1]).is_err());
        assert!(tensors.get("__metadata__", &[1]).is_err());
        let cut = Tensors::read(&bytes[..bytes.len() - 1]).unwrap();
        assert!(cut.get("b", &[1]).is_err());
    }

    proptest! {
        #[test]
        fn damage_is_an_error(at in any::<proptest::sample::Index>(), value in any::<u8>()) {
            let mut bytes = file();
            let at = at.index(bytes.len());
            bytes[at] = value;
            if let Ok(tensors) = Tensors::read(&bytes) {
                let _ = tensors.get("a", &[2]);
            }
            let _ = Tensors::read(&bytes[..at]);
        }
    }
}

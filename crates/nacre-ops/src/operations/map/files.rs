//! The files of a project by their paths, as its map has them.

use super::code_map::{CodeMap, MapAccess};
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::host::Host;

/// The paths of all files, in order. The map is brought up to date first.
pub fn files(host: &Host, cancel: &Cancel) -> Result<Vec<String>, OpError> {
    let access = MapAccess { cancel: Some(cancel), ..MapAccess::usual(None) };
    let map = CodeMap::open(host, access, "chat")?;
    Ok(map.current.artifact.files().into_iter().map(|(path, _)| path.to_owned()).collect())
}

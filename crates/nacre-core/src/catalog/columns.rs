//! How values of ours are written into columns of the tables, and read from them.

use std::path::Path;

use jiff::Timestamp;

use crate::transcript::Stamp;

/// Our own plain types as JSON, which cannot fail.
pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The columns of a stamp.
pub(super) fn columns(stamp: Stamp) -> [i64; 3] {
    let modified =
        stamp.modified.map_or(0, |modified| i64::try_from(modified.as_nanosecond()).unwrap_or(0));
    [i64::try_from(stamp.size).unwrap_or(i64::MAX), modified, stamp.inode.cast_signed()]
}

/// A stamp from its columns.
pub(super) fn stamp_of(size: i64, modified: i64, inode: i64) -> Stamp {
    Stamp {
        size: size.unsigned_abs(),
        modified: Timestamp::from_nanosecond(i128::from(modified)).ok(),
        inode: inode.cast_unsigned(),
    }
}

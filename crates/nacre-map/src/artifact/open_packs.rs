//! The packs that are open, for all who use one cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nacre_core::platform::ext::MetadataExt as _;

use super::pack::Pack;

/// Packs that are open by their numbers: none is mapped and checked, or deciphered, twice.
#[derive(Debug, Default)]
pub(super) struct OpenPacks(Mutex<BTreeMap<u64, (PackStamp, Arc<Pack>)>>);

/// Tells a file from another one of its name: size, inode and time.
type PackStamp = (u64, u64, i64);

impl OpenPacks {
    /// Opens these packs, each with its number and its file, as far as they are not, and closes all others.
    pub(super) fn open(
        &self,
        packs: impl Iterator<Item = (u64, PathBuf)>,
        open: impl Fn(u64) -> Option<Pack>,
    ) -> Vec<(u64, Arc<Pack>)> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = packs.filter_map(|(number, file)| {
            let stamp = pack_stamp(&file)?;
            let pack = match known.get(&number).filter(|(known, _)| *known == stamp) {
                Some((_, pack)) => Arc::clone(pack),
                None => Arc::new(open(number)?),
            };
            Some((number, (stamp, pack)))
        });
        *known = open.collect();
        known.iter().map(|(number, (_, pack))| (*number, Arc::clone(pack))).collect()
    }

    /// Closes packs that are gone, with what was brought into memory of them.
    pub(super) fn close(&self, numbers: &[u64]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|number, _| !numbers.contains(number));
    }
}

fn pack_stamp(file: &Path) -> Option<PackStamp> {
    let metadata = file.symlink_metadata().ok()?;
    let nanos = metadata.mtime().checked_mul(1_000_000_000)?.checked_add(metadata.mtime_nsec())?;
    Some((metadata.size(), metadata.ino(), nanos))
}

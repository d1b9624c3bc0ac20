//! Tells folders whose every change passes through this system from those that another machine can change unheard.

use std::path::Path;

/// File systems of this machine's own, by their magic numbers.
#[cfg(target_os = "linux")]
const LOCAL: &[u64] = &[
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x2fc1_2fc1, // ZFS
    0xf2f5_2010, // F2FS
    0xca45_1a4e, // bcachefs
    0x3153_464a, // JFS
    0x5265_4973, // ReiserFS
];

/// Whether everything that happens in a folder is told here: not where it is shared, or served by another program.
#[cfg(target_os = "linux")]
pub(super) fn is_local(folder: &Path) -> bool {
    let kind = |stat: rustix::fs::StatFs| stat.f_type as u64 & 0xffff_ffff;
    rustix::fs::statfs(folder).is_ok_and(|stat| LOCAL.contains(&kind(stat)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_local(_folder: &Path) -> bool {
    false
}

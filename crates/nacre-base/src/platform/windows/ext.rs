//! Replacements for the Unix extension traits of the standard library.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::process::Command;

/// `CREATE_NEW_PROCESS_GROUP`: Ctrl+C in the terminal does not reach the process.
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

pub trait FileExt {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut n_read = 0;
        while n_read < buffer.len() {
            match self.read_at(&mut buffer[n_read..], offset + n_read as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => n_read += n,
            }
        }
        Ok(())
    }
}

/// File metadata. The inode number and link count are not available for a path.
pub trait MetadataExt {
    fn dev(&self) -> u64;
    fn ino(&self) -> u64;
    /// In units of 512 bytes. Computed from the file size, because the allocated size is not
    /// available.
    fn blocks(&self) -> u64;
    fn size(&self) -> u64;
    fn mode(&self) -> u32;
    fn mtime(&self) -> i64;
    fn mtime_nsec(&self) -> i64;
    fn ctime(&self) -> i64;
    fn ctime_nsec(&self) -> i64;
}

fn modification_time(metadata: &Metadata) -> std::time::Duration {
    let time = metadata.modified().unwrap_or(std::time::UNIX_EPOCH);
    time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

impl MetadataExt for Metadata {
    fn dev(&self) -> u64 {
        0
    }

    fn ino(&self) -> u64 {
        0
    }

    fn blocks(&self) -> u64 {
        self.len().div_ceil(512)
    }

    fn size(&self) -> u64 {
        self.len()
    }

    fn mode(&self) -> u32 {
        self.permissions().mode()
    }

    fn mtime(&self) -> i64 {
        modification_time(self).as_secs().cast_signed()
    }

    fn mtime_nsec(&self) -> i64 {
        i64::from(modification_time(self).subsec_nanos())
    }

    fn ctime(&self) -> i64 {
        self.mtime()
    }

    fn ctime_nsec(&self) -> i64 {
        self.mtime_nsec()
    }
}

/// Constant permission bits: the owner may execute every file, and other users have no access.
pub trait PermissionsExt {
    fn mode(&self) -> u32;
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        if self.readonly() { 0o500 } else { 0o700 }
    }
}

pub trait CommandExt {
    fn process_group(&mut self, group: i32) -> &mut Command;
}

impl CommandExt for Command {
    fn process_group(&mut self, _: i32) -> &mut Command {
        std::os::windows::process::CommandExt::creation_flags(self, NEW_PROCESS_GROUP)
    }
}

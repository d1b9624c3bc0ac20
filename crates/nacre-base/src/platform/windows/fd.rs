//! Handles of open files and directories. Directories are `cap-std` handles, which give no access
//! to anything outside the directory.

use std::sync::Arc;

use cap_std::fs::Dir;

#[derive(Debug)]
pub enum OwnedFd {
    Folder(Dir),
    File(std::fs::File),
}

#[derive(Clone, Copy, Debug)]
pub enum BorrowedFd<'f> {
    Folder(&'f Dir),
    File(&'f std::fs::File),
}

pub trait AsFd {
    fn as_fd(&self) -> BorrowedFd<'_>;
}

impl AsFd for OwnedFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Folder(folder) => BorrowedFd::Folder(folder),
            Self::File(file) => BorrowedFd::File(file),
        }
    }
}

impl AsFd for BorrowedFd<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        *self
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        BorrowedFd::Folder(self)
    }
}

impl AsFd for std::fs::File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        BorrowedFd::File(self)
    }
}

impl<T: AsFd> AsFd for &T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        T::as_fd(self)
    }
}

impl<T: AsFd> AsFd for Arc<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        T::as_fd(self)
    }
}

impl From<OwnedFd> for std::fs::File {
    fn from(fd: OwnedFd) -> Self {
        match fd {
            OwnedFd::Folder(folder) => folder.into_std_file(),
            OwnedFd::File(file) => file,
        }
    }
}

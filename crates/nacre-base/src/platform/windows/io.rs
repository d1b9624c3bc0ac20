//! Error codes for failed calls, using Unix errno values.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    NOENT,
    ACCESS,
    PERM,
    EXIST,
    NOTDIR,
    ISDIR,
    LOOP,
    NXIO,
    INVAL,
    NOSYS,
    NOTSUP,
    SRCH,
    INTR,
    Other(i32),
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let kind = error.kind();
        if kind == ErrorKind::NotFound {
            Self::NOENT
        } else if kind == ErrorKind::PermissionDenied {
            Self::ACCESS
        } else if kind == ErrorKind::AlreadyExists {
            Self::EXIST
        } else if kind == ErrorKind::NotADirectory {
            Self::NOTDIR
        } else if kind == ErrorKind::IsADirectory {
            Self::ISDIR
        } else if kind == ErrorKind::Interrupted {
            Self::INTR
        } else if kind == ErrorKind::Unsupported {
            Self::NOTSUP
        } else {
            error.raw_os_error().map_or(Self::INVAL, Self::Other)
        }
    }
}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        use std::io::ErrorKind;
        match errno {
            Errno::NOENT | Errno::NXIO | Errno::SRCH => ErrorKind::NotFound.into(),
            Errno::ACCESS | Errno::PERM => ErrorKind::PermissionDenied.into(),
            Errno::EXIST => ErrorKind::AlreadyExists.into(),
            Errno::NOTDIR => ErrorKind::NotADirectory.into(),
            Errno::ISDIR => ErrorKind::IsADirectory.into(),
            Errno::LOOP | Errno::INVAL => ErrorKind::InvalidInput.into(),
            Errno::NOSYS | Errno::NOTSUP => ErrorKind::Unsupported.into(),
            Errno::INTR => ErrorKind::Interrupted.into(),
            Errno::Other(code) => Self::from_raw_os_error(code),
        }
    }
}

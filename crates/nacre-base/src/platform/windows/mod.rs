//! Windows implementation with the standard library and `cap-std`.

mod calls;
pub mod ext;
pub mod fd;
pub mod fs;
pub mod io;
pub mod process;

pub use self::fs::open_folder;
pub use calls::*;

//! Windows: the same names, by the standard library and `cap-std` alone.

mod calls;
pub mod ext;
pub mod fd;
pub mod fs;
pub mod io;
pub mod process;

pub use calls::*;

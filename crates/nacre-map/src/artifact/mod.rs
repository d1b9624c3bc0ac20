//! The cached index of one code base.

mod model;

pub use model::{
    FileFacts, FileHash, Project, ProjectId, RelativePath, Revision, Stamp, estimated_tokens,
};

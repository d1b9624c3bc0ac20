//! Names that almost every operation uses.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::Duration;

pub(crate) use jiff::Timestamp;
pub(crate) use nacre_base::ContentHash;
pub(crate) use nacre_base::fs::{Access, FsError, Owner, RelPath, WriteScope};
pub(crate) use nacre_memory::{MemoryId, Store};
pub(crate) use nacre_types::ErrorCode;

pub(crate) use crate::error::{OpError, Result};
pub(crate) use crate::events::Events;
pub(crate) use crate::host::{Host, ScopedStore};

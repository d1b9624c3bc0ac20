//! Imports that most of the store's modules use.

pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::Duration;

pub(crate) use jiff::Timestamp;
pub(crate) use nacre_base::ContentHash;
pub(crate) use nacre_base::fs::{EntryKind, FsError, Owner, RelPath, WriteScope};

pub(crate) use crate::batch::Batch;
pub(crate) use crate::document::Document;
pub(crate) use crate::draft::Draft;
pub(crate) use crate::id::MemoryId;
pub(crate) use crate::kinds::{MemoryType, Status};
pub(crate) use crate::layout::{Located, StoreArea};
pub(crate) use crate::record::Memory;
pub(crate) use crate::sidecar::{Evidence, LocalState, MAX_SIDECAR_BYTES, Quote, render};
pub(crate) use crate::store::{MemoryError, Result, Store, Unreadable};
pub(crate) use crate::trust::{Actor, Trust};

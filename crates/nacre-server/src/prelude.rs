//! Names used by most of the server's modules.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::path::PathBuf;
pub(crate) use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use std::time::Duration;

pub(crate) use axum::body::Body;
pub(crate) use axum::http::StatusCode;
pub(crate) use axum::http::header::CONTENT_TYPE;
pub(crate) use axum::response::{IntoResponse, Response};
pub(crate) use nacre_ops::host::Environment;
pub(crate) use nacre_ops::people::Caller;
pub(crate) use nacre_ops::{Cancel, Events, Host, OpError, Result};
pub(crate) use nacre_types::{ChangedThing, ErrorCode};
pub(crate) use serde_json::Value;

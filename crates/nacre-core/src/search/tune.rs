//! TEMPORARY: tuning.
use std::collections::HashMap;
use std::sync::RwLock;
pub static PARAMS: RwLock<Option<HashMap<String, f32>>> = RwLock::new(None);
pub fn p(name: &str, default: f32) -> f32 {
    PARAMS.read().ok().and_then(|m| m.as_ref().and_then(|m| m.get(name).copied())).unwrap_or(default)
}

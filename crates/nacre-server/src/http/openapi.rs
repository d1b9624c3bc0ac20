//! The description of the API as it is stored in `docs/openapi.json`, OpenAPI 3.1.
//!
//! A test writes it from the table of routes and the wire types (`describe.rs`), so that the program has neither to make it nor to
//! hold the code that does. The build takes out its white space and compresses it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::assets::unpacked;

/// The description of this version's API.
pub(super) static DESCRIPTION: LazyLock<String> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.zst"));
    String::from_utf8(unpacked(packed)).unwrap_or_default()
});

/// The schemas of the types that the description names, not yet read.
#[derive(Default)]
pub(super) struct Schemas(BTreeMap<&'static str, &'static RawValue>);

#[derive(Deserialize)]
struct Description<'d> {
    #[serde(borrow)]
    components: Components<'d>,
}

#[derive(Deserialize)]
struct Components<'d> {
    #[serde(borrow)]
    schemas: BTreeMap<&'d str, &'d RawValue>,
}

impl Schemas {
    /// A test holds that the description can be read.
    pub(super) fn of_description() -> Self {
        let read = serde_json::from_str::<Description<'static>>(&DESCRIPTION);
        read.map(|description| Self(description.components.schemas)).unwrap_or_default()
    }

    /// The schema of a type, its fields in view.
    pub(super) fn of(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}

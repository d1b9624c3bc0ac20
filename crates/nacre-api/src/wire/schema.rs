//! The JSON schemas of the wire types: one table, from which `make docs` writes `docs/schema/`.

use schemars::{Schema, schema_for};

use super::*;

/// Lists types with their schemas, by name.
macro_rules! schema_table {
    ($($name:ident,)+) => {
        vec![$((stringify!($name), schema_for!($name)),)+]
    };
}

/// Every request, report, event and error, by name, in alphabetical order.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    schema_table![
        ConfigPathReport,
        ConfigPathRequest,
        ConfigSetReport,
        ConfigSetRequest,
        ConfigShowReport,
        ConfigShowRequest,
        ErrorReport,
        Event,
        InitReport,
        InitRequest,
        MemoryListReport,
        MemoryListRequest,
        MemoryShowReport,
        MemoryShowRequest,
        ModelInstallReport,
        ModelInstallRequest,
        ModelListReport,
        ModelListRequest,
        ModelRemoveReport,
        ModelRemoveRequest,
        ModelTestReport,
        ModelTestRequest,
        ProjectAddReport,
        ProjectAddRequest,
        ProjectListReport,
        ProjectListRequest,
        ProjectRemoveReport,
        ProjectRemoveRequest,
        SkillListReport,
        SkillListRequest,
        SkillShowReport,
        SkillShowRequest,
        StatusReport,
        StatusRequest,
    ]
}

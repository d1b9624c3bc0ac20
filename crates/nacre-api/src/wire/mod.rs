//! The wire types: a request and a report for each operation, events, and errors.
//!
//! One file a group of operations. A key that was published keeps its name and meaning.
//!
//! A new `…Request` or `…Report` is re-exported here by name and gets one line in the table of `schema.rs`; a test fails
//! while it is missing. `make docs` then writes its JSON schema to `docs/schema/`.

mod config;
mod error;
mod event;
mod memory;
mod model;
mod outcome;
mod project;
mod schema;
mod scope;
mod skill;
mod status;

pub use config::{
    ConfigFile, ConfigLayer, ConfigPathReport, ConfigPathRequest, ConfigSetReport,
    ConfigSetRequest, ConfigShowReport, ConfigShowRequest, Setting, SettingValue,
};
pub use error::{CODES, ErrorCode, ErrorReport, Failure};
pub use event::{Event, Warning};
pub use memory::{
    BrokenFile, MemoryEntry, MemoryEvidence, MemoryLink, MemoryListReport, MemoryListRequest,
    MemoryQuote, MemoryShowReport, MemoryShowRequest, MemoryType, MemoryVersion, Speaker,
};
pub use model::{
    EmbedderEntry, EmbedderState, InstallableModel, ModelInstallReport, ModelInstallRequest,
    ModelListReport, ModelListRequest, ModelRemoveReport, ModelRemoveRequest, ModelRole,
    ModelTestReport, ModelTestRequest, ModelTestTokens, ProviderEntry, RoleEntry,
};
pub use outcome::{Outcome, Report};
pub use project::{
    InitReport, InitRequest, ProjectAddReport, ProjectAddRequest, ProjectEntry, ProjectListReport,
    ProjectListRequest, ProjectRemoveReport, ProjectRemoveRequest, ProjectState,
};
pub use schema::schemas;
pub use scope::{OtherPlace, Scope, StoreScope};
pub use skill::{
    SkillEntry, SkillListReport, SkillListRequest, SkillOrigin, SkillProblem, SkillShowReport,
    SkillShowRequest,
};
pub use status::{
    Health, SessionStatus, SpendingScope, SpendingStatus, StatusReport, StatusRequest, StoreStatus,
    TypeCount,
};

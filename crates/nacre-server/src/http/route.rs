//! A row of the table of routes: what it answers to, who may ask, and the operation behind it.
//!
//! The types of request and report are erased here, once, so that the table is a plain list: tests walk it to attack every route,
//! and one of them writes the description of the API from it.

use std::borrow::Cow;
use std::sync::Arc;

use nacre_api::wire::{ChangedThing, Outcome, Report};
use nacre_ops::{Host, OpError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::calls::Call;
use crate::permit::Permit;

/// The methods that routes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Anybody who reaches the server by its own name: it tells nothing of a person's.
    Open,
    /// Who shows the token or the secret of a dashboard's page.
    Read,
    /// The same, and it changes something: never by GET.
    Change,
    /// Only programs of the person's, by the token or the socket file; no page.
    Program,
}

/// How its request is answered.
pub(super) enum Handling {
    /// An operation that is over soon.
    Operation(Prepare),
    /// An operation that runs as a task: answered when it has begun, or with `?wait=true` when it is over.
    Task(Prepare),
    /// Something of the server itself.
    Own(OwnRoute),
}

/// What only the server can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnRoute {
    Health,
    Ready,
    Metrics,
    OpenApi,
    Login,
    LoginCode,
    Events,
    TaskReport,
    Mcp,
    Rpc,
    Service,
    Pause,
    Resume,
    Wake,
    Stop,
}

/// What a route does with `If-Match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseOfVersion {
    None,
    /// It is compared where it is given.
    Checked,
    /// Nothing is done without it.
    Required,
}

/// Turns the parameters of a request into work, or says what is wrong with them.
pub(super) type Prepare = Arc<dyn Fn(Value) -> Result<Work, OpError> + Send + Sync>;

/// What is done on a thread that may block.
pub(super) type Work = Box<dyn FnOnce(&Call) -> Result<Done, OpError> + Send>;

/// A report, as it goes out.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) json: Vec<u8>,
    pub(super) outcome: Outcome,
    /// What `If-Match` is compared with.
    pub(super) version: Option<String>,
}

/// The schema of a type, as part of the description.
#[cfg(test)]
pub(super) type SchemaOf = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

/// The types that a route reads and writes, for the description.
#[cfg(test)]
#[derive(Clone, Copy, Default)]
pub(super) struct RouteTypes {
    pub(super) request: Option<SchemaOf>,
    pub(super) report: Option<SchemaOf>,
}

#[cfg(test)]
impl RouteTypes {
    fn takes<Q: JsonSchema>(self) -> Self {
        Self { request: Some(schemars::SchemaGenerator::subschema_for::<Q>), ..self }
    }

    fn reports<R: JsonSchema>(self) -> Self {
        Self { report: Some(schemars::SchemaGenerator::subschema_for::<R>), ..self }
    }
}

pub(super) struct Route {
    pub(super) verb: Verb,
    /// With `{name}` for what the request's field of that name is taken from; one shape of path has one name.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// What a caller must be allowed to do. A test holds that every route says it.
    pub(super) permit: Option<Permit>,
    /// What it does, for the description.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes the description"))]
    pub(super) summary: &'static str,
    pub(super) handling: Handling,
    /// The type of its request, by the name that it has in the description.
    pub(super) request: Option<Cow<'static, str>>,
    #[cfg(test)]
    pub(super) types: RouteTypes,
    /// The field of the request that `{id}` in the path stands for.
    pub(super) id_field: &'static str,
    /// What it does with the version that the client last saw.
    pub(super) version: UseOfVersion,
    /// What others have to ask for again when it succeeded.
    pub(super) changes: Option<ChangedThing>,
    /// Whether an agent's hook asks: in the folder that the request names, and ahead of others.
    pub(super) is_hook: bool,
}

impl Route {
    /// A route whose request is a `Q` and whose answer an `R`.
    pub(super) fn operation<Q, R>(
        row: (Verb, &'static str),
        summary: &'static str,
        operation: fn(&Host, &Q) -> Result<R, OpError>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        R: Report + Serialize + JsonSchema + 'static,
    {
        let call = move |call: &Call, request: &Q| operation(&call.host, request);
        Self::new(row, summary, Handling::Operation(prepare(call, |_| None))).typed::<Q, R>()
    }

    /// The same, where the operation needs more of the call than its host.
    pub(super) fn call<Q, R>(
        (verb, path): (Verb, &'static str),
        summary: &'static str,
        operation: fn(&Call, &Q) -> Result<R, OpError>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        R: Report + Serialize + JsonSchema + 'static,
    {
        let handling = Handling::Operation(prepare(operation, |_| None));
        Self::new((verb, path), summary, handling).typed::<Q, R>()
    }

    /// One whose answer has a version, by which a later change says what it is based on.
    pub(super) fn versioned<Q, R>(
        (verb, path): (Verb, &'static str),
        summary: &'static str,
        operation: fn(&Call, &Q) -> Result<R, OpError>,
        version: fn(&R) -> Option<String>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        R: Report + Serialize + JsonSchema + 'static,
    {
        let handling = Handling::Operation(prepare(operation, version));
        Self::new((verb, path), summary, handling).typed::<Q, R>()
    }

    /// A route whose operation runs as a task.
    pub(super) fn task<Q, R>(
        (verb, path): (Verb, &'static str),
        summary: &'static str,
        operation: fn(&Call, &Q) -> Result<R, OpError>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        R: Report + Serialize + JsonSchema + 'static,
    {
        let handling = Handling::Task(prepare(operation, |_| None));
        Self::new((verb, path), summary, handling).typed::<Q, R>()
    }

    /// A route of the server itself.
    pub(super) fn own(
        (verb, path): (Verb, &'static str),
        summary: &'static str,
        own: OwnRoute,
    ) -> Self {
        Self::new((verb, path), summary, Handling::Own(own))
    }

    fn new((verb, path): (Verb, &'static str), summary: &'static str, handling: Handling) -> Self {
        let access = if verb == Verb::Get { Access::Read } else { Access::Change };
        Self {
            verb,
            path,
            access,
            permit: None,
            summary,
            handling,
            request: None,
            #[cfg(test)]
            types: RouteTypes::default(),
            id_field: "id",
            version: UseOfVersion::None,
            changes: None,
            is_hook: false,
        }
    }

    pub(super) fn is_task(&self) -> bool {
        matches!(self.handling, Handling::Task(_))
    }

    /// For anybody: it tells nothing of a person's and changes nothing of theirs.
    pub(super) fn open(self) -> Self {
        Self { access: Access::Open, permit: Some(Permit::Anybody), ..self }
    }

    /// What a caller must be allowed to do.
    pub(super) fn needs(self, permit: Permit) -> Self {
        Self { permit: Some(permit), ..self }
    }

    /// The same; a route that does not say it is for the owner alone.
    pub(super) fn permit(&self) -> Permit {
        self.permit.unwrap_or(Permit::Machine)
    }

    /// Only reads, although it is not asked by GET.
    pub(super) fn reads(self) -> Self {
        Self { access: Access::Read, ..self }
    }

    /// One that only programs may ask for.
    pub(super) fn for_programs(self) -> Self {
        Self { access: Access::Program, ..self }
    }

    /// `{id}` in the path stands for this field.
    pub(super) fn id_is(self, id_field: &'static str) -> Self {
        Self { id_field, ..self }
    }

    /// The field of the request that a name in the path stands for.
    pub(super) fn field_of<'n>(&self, name: &'n str) -> &'n str
    where
        'static: 'n,
    {
        if name == "id" { self.id_field } else { name }
    }

    /// Compares `If-Match` with what is there now.
    pub(super) fn version(self, version: UseOfVersion) -> Self {
        Self { version, ..self }
    }

    /// Others are told that this changed.
    pub(super) fn changes(self, what: ChangedThing) -> Self {
        Self { changes: Some(what), ..self }
    }

    /// Asked by an agent's hook, in the folder that the request names.
    pub(super) fn by_hook(self) -> Self {
        Self { is_hook: true, ..self }
    }

    pub(super) fn typed<Q: JsonSchema, R: JsonSchema>(self) -> Self {
        self.takes::<Q>().reports::<R>()
    }

    pub(super) fn takes<Q: JsonSchema>(self) -> Self {
        Self {
            request: Some(Q::schema_name()),
            #[cfg(test)]
            types: self.types.takes::<Q>(),
            ..self
        }
    }

    /// What comes back. The description says it, and only a test writes that.
    #[cfg(test)]
    pub(super) fn reports<R: JsonSchema>(self) -> Self {
        Self { types: self.types.reports::<R>(), ..self }
    }

    #[cfg(not(test))]
    #[expect(clippy::extra_unused_type_parameters, reason = "only the description says it")]
    pub(super) fn reports<R: JsonSchema>(self) -> Self {
        self
    }
}

fn prepare<Q, R>(
    operation: impl Fn(&Call, &Q) -> Result<R, OpError> + Copy + Send + Sync + 'static,
    version: fn(&R) -> Option<String>,
) -> Prepare
where
    Q: DeserializeOwned + Send + 'static,
    R: Report + Serialize + 'static,
{
    Arc::new(move |parameters| {
        let request = serde_json::from_value::<Q>(parameters)
            .map_err(|error| OpError::usage(format!("The request makes no sense: {error}")))?;
        let work = move |call: &Call| {
            let report = operation(call, &request)?;
            let json = serde_json::to_vec(&report).map_err(|error| {
                OpError::failed(format!("The report could not be written: {error}"))
            })?;
            Ok(Done { json, outcome: report.outcome(), version: version(&report) })
        };
        Ok(Box::new(work) as Work)
    })
}

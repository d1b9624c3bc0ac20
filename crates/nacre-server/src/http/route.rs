//! The types of the route table, from which both the router and the API description are built.

use std::borrow::Cow;

use axum::http::Method;
use schemars::JsonSchema;

use super::answer::{Input, Output, Prepare, Refusal, prepare};
use super::guard::Access;
use super::server::{RouteRequest, Server};
use crate::calls::Call;
use crate::people::Permit;
use crate::prelude::*;

pub(super) enum Handling {
    Operation(Prepare),
    /// Responds as soon as the task has started or, with `?wait=true`, when it has ended.
    Task(Prepare),
    Own(OwnHandler),
    Mcp,
    Rpc,
}

pub(super) type OwnHandler = fn(&Arc<Server>, RouteRequest) -> Result<Response, Refusal>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseOfVersion {
    None,
    /// `If-Match` is optional; if it is sent, the version must match.
    Checked,
    /// Requests without `If-Match` fail.
    Required,
}

#[cfg(test)]
pub(super) type SchemaOf = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

#[cfg(test)]
#[derive(Clone, Copy, Default)]
pub(super) struct RouteTypes {
    pub(super) request: Option<SchemaOf>,
    pub(super) report: Option<SchemaOf>,
}

pub(super) struct RouteHead {
    pub(super) verb: Method,
    /// Each `{name}` in the path sets the request field with that name.
    pub(super) path: &'static str,
    pub(super) permit: Permit,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test writes the description"))]
    pub(super) summary: &'static str,
}

/// An operation that may emit events and be cancelled.
type Operation<Q, R> = fn(&Host, &Q, &Events) -> Result<R>;

impl RouteHead {
    pub(super) fn operation<Q: Input, R: Output>(
        self,
        operation: fn(&Host, &Q) -> Result<R>,
    ) -> Route {
        let call = move |call: &Call, request: &Q| operation(&call.host, request);
        self.with_handling(Handling::Operation(prepare(call, |_| None))).takes::<Q>().reports::<R>()
    }

    pub(super) fn with_events<Q: Input, R: Output>(self, operation: Operation<Q, R>) -> Route {
        self.operation_with_version(operation, |_| None)
    }

    /// Like `with_events`, but the report contains a version, which clients can send as `If-Match`
    /// when they make later changes.
    pub(super) fn operation_with_version<Q: Input, R: Output>(
        self,
        operation: Operation<Q, R>,
        version: fn(&R) -> Option<String>,
    ) -> Route {
        let call = move |call: &Call, request: &Q| operation(&call.host, request, &call.events);
        self.with_handling(Handling::Operation(prepare(call, version))).takes::<Q>().reports::<R>()
    }

    pub(super) fn task<Q: Input, R: Output>(self, operation: Operation<Q, R>) -> Route {
        let call = move |call: &Call, request: &Q| operation(&call.host, request, &call.events);
        self.with_handling(Handling::Task(prepare(call, |_| None))).takes::<Q>().reports::<R>()
    }

    pub(super) fn own(self, handler: OwnHandler) -> Route {
        self.with_handling(Handling::Own(handler))
    }

    pub(super) fn mcp(self) -> Route {
        self.with_handling(Handling::Mcp)
    }

    pub(super) fn rpc(self) -> Route {
        self.with_handling(Handling::Rpc)
    }

    fn with_handling(self, handling: Handling) -> Route {
        let access = if self.verb == Method::GET { Access::Read } else { Access::Change };
        Route {
            head: self,
            access,
            handling,
            request: None,
            schema: None,
            #[cfg(test)]
            types: RouteTypes::default(),
            id_field: "id",
            version: UseOfVersion::None,
            changes: None,
            is_hook: false,
        }
    }
}

pub(super) struct Route {
    pub(super) head: RouteHead,
    pub(super) access: Access,
    pub(super) handling: Handling,
    pub(super) request: Option<Cow<'static, str>>,
    pub(super) schema: Option<Value>,
    #[cfg(test)]
    pub(super) types: RouteTypes,
    id_field: &'static str,
    pub(super) version: UseOfVersion,
    /// The data that clients must reload after the call succeeds.
    pub(super) changes: Option<ChangedThing>,
    /// Whether hooks use this route. Hook calls run at high priority, in the directory that the
    /// request specifies.
    pub(super) is_hook: bool,
}

impl Route {
    #[cfg_attr(not(test), expect(unused_mut, reason = "only a test stores the type"))]
    pub(super) fn takes<Q: JsonSchema>(mut self) -> Self {
        #[cfg(test)]
        {
            self.types.request = Some(schemars::SchemaGenerator::subschema_for::<Q>);
        }
        Self { request: Some(Q::schema_name()), ..self }
    }

    #[cfg(test)]
    pub(super) fn reports<R: JsonSchema>(mut self) -> Self {
        self.types.report = Some(schemars::SchemaGenerator::subschema_for::<R>);
        self
    }

    #[cfg(not(test))]
    #[expect(clippy::extra_unused_type_parameters, reason = "only the API description uses it")]
    pub(super) fn reports<R: JsonSchema>(self) -> Self {
        self
    }

    pub(super) fn is_task(&self) -> bool {
        matches!(self.handling, Handling::Task(_))
    }

    pub(super) fn is_open(&self) -> bool {
        self.head.permit == Permit::Anybody
    }

    pub(super) fn is_change(&self) -> bool {
        self.access == Access::Change
    }

    pub(super) fn reads(self) -> Self {
        Self { access: Access::Read, ..self }
    }

    pub(super) fn for_programs(self) -> Self {
        Self { access: Access::Program, ..self }
    }

    /// Passes the `{id}` in the path as the field `id_field`.
    pub(super) fn id_is(self, id_field: &'static str) -> Self {
        Self { id_field, ..self }
    }

    /// Returns the request field for a name in the path.
    pub(super) fn field_of<'n>(&self, name: &'n str) -> &'n str {
        if name == "id" { self.id_field } else { name }
    }

    pub(super) fn version(self, version: UseOfVersion) -> Self {
        Self { version, ..self }
    }

    pub(super) fn changes(self, what: ChangedThing) -> Self {
        Self { changes: Some(what), ..self }
    }

    pub(super) fn by_hook(self) -> Self {
        Self { is_hook: true, ..self }
    }
}

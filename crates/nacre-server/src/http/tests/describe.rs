//! Generates the API's OpenAPI 3.1 description from the route table and the wire types, for the
//! test that writes it.

use std::collections::BTreeMap;

use axum::http::Method;
use nacre_types::{ErrorReport, TaskRef};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::http::route::{Handling, Route, UseOfVersion};

/// The complete API description.
#[derive(Clone, Debug, Serialize)]
struct Document {
    openapi: &'static str,
    info: Info,
    paths: BTreeMap<&'static str, BTreeMap<String, Operation>>,
    components: Components,
}

#[derive(Clone, Debug, Serialize)]
struct Info {
    title: &'static str,
    version: &'static str,
    description: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Components {
    schemas: Map<String, Value>,
    security_schemes: BTreeMap<&'static str, SecurityScheme>,
}

#[derive(Clone, Debug, Serialize)]
struct SecurityScheme {
    r#type: &'static str,
    scheme: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    operation_id: String,
    summary: &'static str,
    /// The scope that the caller needs.
    #[serde(rename = "x-scope")]
    scope: &'static str,
    security: Vec<BTreeMap<&'static str, Vec<String>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<RequestBody>,
    responses: BTreeMap<&'static str, Answer>,
}

#[derive(Clone, Debug, Serialize)]
struct Parameter {
    name: String,
    r#in: &'static str,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    schema: Value,
}

#[derive(Clone, Debug, Serialize)]
struct RequestBody {
    required: bool,
    content: BTreeMap<&'static str, Content>,
}

#[derive(Clone, Debug, Serialize)]
struct Answer {
    description: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    content: BTreeMap<&'static str, Content>,
}

#[derive(Clone, Debug, Serialize)]
struct Content {
    schema: Value,
}

/// Creates a generator whose schemas reference each other under `components`.
fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

fn describe(all: &[Route]) -> Document {
    let mut generator = generator();
    let mut paths: BTreeMap<&'static str, BTreeMap<String, Operation>> = BTreeMap::new();
    for route in all {
        let operation = operation(&mut generator, route);
        paths
            .entry(route.head.path)
            .or_default()
            .insert(route.head.verb.as_str().to_lowercase(), operation);
    }
    let bearer = SecurityScheme { r#type: "http", scheme: "bearer" };
    Document {
        openapi: "3.1.0",
        info: Info {
            title: "Nacre",
            version: env!("CARGO_PKG_VERSION"),
            description: "A file-first memory for coding agents, and a map of their code.",
        },
        paths,
        components: Components {
            schemas: generator.take_definitions(true),
            security_schemes: BTreeMap::from([("token", bearer)]),
        },
    }
}

fn operation(generator: &mut SchemaGenerator, route: &Route) -> Operation {
    let fields = fields(generator, route);
    let has_body = [Method::POST, Method::PUT, Method::PATCH].contains(&route.head.verb);
    let mut parameters = server_parameters(route);
    for name in path_names(route.head.path) {
        parameters.push(parameter(name, "path", true, &text_schema(generator)));
    }
    parameters.extend(header_parameters(route).map(|(name, required)| {
        let schema = text_schema(generator);
        parameter(name, "header", required, &schema)
    }));
    let is_in_path =
        |field: &str| path_names(route.head.path).any(|name| route.field_of(name) == field);
    // Clients send the version in `If-Match` instead.
    let is_version = |field: &str| field == "version" && route.version != UseOfVersion::None;
    for (name, schema, required) in fields.iter().filter(|(name, ..)| !is_in_path(name)) {
        if !has_body && !is_version(name) {
            parameters.push(parameter(name, "query", *required, schema));
        }
    }
    let security = match route.is_open() {
        true => Vec::new(),
        false => vec![BTreeMap::from([("token", Vec::new())])],
    };
    Operation {
        operation_id: operation_id(route),
        summary: route.head.summary,
        scope: route.head.permit.as_str(),
        security,
        parameters,
        request_body: has_body.then(|| request_body(generator, route)),
        responses: responses(generator, route),
    }
}

/// Returns each header parameter's name, and whether it is required.
fn header_parameters(route: &Route) -> impl Iterator<Item = (&'static str, bool)> {
    let version = match route.version {
        UseOfVersion::None => None,
        UseOfVersion::Checked => Some(("If-Match", false)),
        UseOfVersion::Required => Some(("If-Match", true)),
    };
    version.into_iter().chain(is_stream(route).then_some(("Last-Event-ID", false)))
}

fn is_stream(route: &Route) -> bool {
    route.head.path == "/api/events"
}

/// Returns the query parameters that the server handles itself.
fn server_parameters(route: &Route) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    let mut add = |name: &str, kind: &str, description: &str| {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), Value::String(kind.to_owned()));
        parameters.push(Parameter {
            name: name.to_owned(),
            r#in: "query",
            required: false,
            description: Some(description.to_owned()),
            schema: Value::Object(schema),
        });
    };
    if matches!(route.handling, Handling::Operation(_) | Handling::Task(_)) {
        add("project", "string", "A registered project's name; optional if there is only one");
    }
    if route.is_task() {
        add("wait", "boolean", "Respond with the report when the task ends, not with the task");
    }
    parameters
}

fn parameter(name: &str, place: &'static str, required: bool, schema: &Value) -> Parameter {
    let mut schema = schema.clone();
    let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
    Parameter {
        name: name.to_owned(),
        r#in: place,
        required,
        description: description.and_then(|text| text.as_str().map(str::to_owned)),
        schema,
    }
}

fn request_body(generator: &mut SchemaGenerator, route: &Route) -> RequestBody {
    let schema = route.types.request.map(|schema| schema(generator));
    let schema = schema.map_or_else(|| Value::Bool(true), Schema::to_value);
    // Fields that are part of the path are not repeated in the body.
    RequestBody {
        required: false,
        content: BTreeMap::from([("application/json", Content { schema })]),
    }
}

fn responses(generator: &mut SchemaGenerator, route: &Route) -> BTreeMap<&'static str, Answer> {
    let mut responses = BTreeMap::new();
    let mut add = |status, description, kind, schema: Schema| {
        let content = BTreeMap::from([(kind, Content { schema: schema.to_value() })]);
        responses.insert(status, Answer { description, content });
    };
    if let Some(report) = route.types.report {
        let kind = if is_stream(route) { "text/event-stream" } else { "application/json" };
        add("200", "The report", kind, report(generator));
    }
    if route.is_task() {
        let started = generator.subschema_for::<TaskRef>();
        add("202", "It runs as this task", "application/json", started);
    }
    add("default", "What went wrong", "application/json", generator.subschema_for::<ErrorReport>());
    if route.types.report.is_none() {
        let done = Answer { description: "Done", content: BTreeMap::new() };
        responses.insert("2XX", done);
    }
    responses
}

/// Returns each request field with its name, its schema, and whether it is required.
fn fields(generator: &mut SchemaGenerator, route: &Route) -> Vec<(String, Value, bool)> {
    let Some(request) = route.types.request else { return Vec::new() };
    let schema = request(generator).to_value();
    let name = schema["$ref"].as_str().and_then(|text| text.rsplit('/').next());
    let definition = name.and_then(|name| generator.definitions().get(name)).unwrap_or(&schema);
    let required = definition["required"].as_array().cloned().unwrap_or_default();
    let fields = definition["properties"].as_object().cloned().unwrap_or_default();
    let named = |(name, schema)| {
        let is_required = required.iter().any(|known| *known == name);
        (name, schema, is_required)
    };
    fields.into_iter().map(named).collect()
}

fn text_schema(generator: &mut SchemaGenerator) -> Value {
    String::json_schema(generator).to_value()
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// Returns the operation ID, such as `get_memories_id` for `GET /api/memories/{id}`.
fn operation_id(route: &Route) -> String {
    let path = route.head.path.trim_start_matches("/api").replace(['{', '}'], "");
    let words: Vec<&str> = path.split(['/', '-', '.']).filter(|word| !word.is_empty()).collect();
    format!("{}_{}", route.head.verb.as_str().to_lowercase(), words.join("_"))
}

mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::parameters::{DESCRIPTION, schemas};
    use crate::http::routes;

    #[test]
    fn the_description_of_the_api_is_current() {
        let document = describe(&routes::all());
        let pretty = serde_json::to_string_pretty(&document).unwrap() + "\n";
        crate::stored_tests::check("docs/openapi.json", &pretty);
    }

    #[test]
    fn the_program_has_the_description_without_its_white_space() {
        let document = describe(&routes::all());
        let behind = "the program's description is out of date; run `make docs`";
        assert!(serde_json::to_string(&document).unwrap() == DESCRIPTION, "{behind}");
    }

    #[test]
    fn the_fields_of_a_request_are_those_of_its_type() {
        let (stored, mut generator) = (schemas(), generator());
        for route in routes::all() {
            let Some(request) = route.types.request else {
                assert_eq!(route.request, None, "{}", route.head.path);
                continue;
            };
            let schema = request(&mut generator).to_value();
            let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            assert_eq!(route.request.as_deref(), Some(name), "{}", route.head.path);
            let stored = stored.get(name).map(|schema| serde_json::from_str(schema.get()).unwrap());
            assert_eq!(stored.as_ref(), generator.definitions().get(name), "{name}");
        }
    }

    #[test]
    fn every_reference_has_its_schema_and_every_name_is_its_own() {
        let document = serde_json::to_value(describe(&routes::all())).unwrap();
        let text = document.to_string();
        let known = document["components"]["schemas"].as_object().unwrap();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(known.contains_key(name), "{name}");
        }
        let mut names = BTreeSet::new();
        for operations in document["paths"].as_object().unwrap().values() {
            for operation in operations.as_object().unwrap().values() {
                assert!(names.insert(operation["operationId"].to_string()));
            }
        }
    }
}

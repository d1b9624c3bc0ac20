//! Tests the route table, and the API description that is generated from it.

mod describe;

use axum::http::Method;
use axum::routing::MethodFilter;
use nacre_ops::people::AccessScope;
use serde_json::Value;

use super::guard::Access;
use super::parameters::{DESCRIPTION, schemas};
use super::route::{Handling, Route};
use super::routes;
use crate::people::Permit;

#[test]
fn every_verb_is_one_that_the_router_knows() {
    for route in routes::all() {
        assert!(MethodFilter::try_from(route.head.verb.clone()).is_ok(), "{}", route.head.path);
    }
}

#[test]
fn only_what_changes_nothing_is_asked_by_get_and_every_change_needs_the_token() {
    let all = routes::all();
    for route in &all {
        assert!(!route.is_change() || route.head.verb != Method::GET, "{}", route.head.path);
        assert!(route.access != Access::Program || !route.is_open(), "{}", route.head.path);
    }
    let open: Vec<&str> =
        all.iter().filter(|route| route.is_open()).map(|route| route.head.path).collect();
    assert_eq!(open, ["/api/health", "/api/ready", "/api/openapi.json", "/api/login"]);
}

#[test]
fn every_route_of_the_description_says_what_a_caller_needs() {
    let all = routes::all();
    let described: Value = serde_json::from_str(DESCRIPTION).unwrap();
    let mut n_routes = 0;
    for (path, verbs) in described["paths"].as_object().unwrap() {
        for (verb, operation) in verbs.as_object().unwrap() {
            n_routes += 1;
            let is_it = |route: &&Route| {
                route.head.path == path && route.head.verb.as_str().eq_ignore_ascii_case(verb)
            };
            let route = all.iter().find(is_it).unwrap();
            assert_eq!(operation["x-scope"], route.head.permit.as_str());
            let is_read =
                route.head.permit == Permit::Scope(AccessScope::Read) && route.is_change();
            // An MCP message may read or write, so each tool declares the scope it needs. Login
            // codes are for the caller that requests them.
            let is_known = ["/mcp", "/api/login-code"].contains(&route.head.path);
            assert!(!is_read || is_known, "{verb} {path} changes something");
        }
    }
    assert_eq!(n_routes, all.len());
}

#[test]
fn no_field_of_a_request_is_taken_by_the_server() {
    let schemas = schemas();
    for route in routes::all() {
        let schema = route.request.as_deref().and_then(|name| schemas.get(name));
        let schema = schema.map(|schema| serde_json::from_str::<Value>(schema.get()).unwrap());
        let fields = schema.as_ref().and_then(|schema| schema["properties"].as_object());
        let is_task = matches!(route.handling, Handling::Task(_));
        let taken = |name: &str| name == "project" || (is_task && name == "wait");
        // The body of a `/v1` request may name its project.
        let has_body = route.head.path.starts_with("/v1");
        let mut names = fields.into_iter().flat_map(|fields| fields.keys());
        assert!(has_body || !names.any(|name| taken(name)), "{}", route.head.path);
    }
}

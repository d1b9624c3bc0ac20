//! The table of routes: all that the server answers to, and a way to find a row quickly.

use std::collections::BTreeMap;

use http::Method;
use serde_json::Value;

use super::openapi::Schemas;
use super::route::Route;
use super::routes;

/// The routes, and their addresses.
pub(super) struct Table {
    routes: Vec<Route>,
    /// By address, the numbers of its routes.
    addresses: matchit::Router<Vec<usize>>,
    /// The schema of each route's request.
    schemas: Vec<Option<Value>>,
}

/// What stands at an address.
pub(super) enum Found<'t> {
    Route(FoundRoute<'t>),
    /// Something that is asked in other ways.
    OtherVerbs(Vec<&'static str>),
    Nothing,
}

pub(super) struct FoundRoute<'t> {
    pub(super) route: &'t Route,
    pub(super) schema: Option<&'t Value>,
    /// What stands in the path, by the name of its field.
    pub(super) path: Vec<(String, String)>,
}

impl Table {
    pub(super) fn new() -> Self {
        let routes = routes::all();
        let mut by_path: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, route) in routes.iter().enumerate() {
            by_path.entry(route.path).or_default().push(number);
        }
        let mut addresses = matchit::Router::new();
        for (path, numbers) in by_path {
            // A test holds that every path of the table can be inserted.
            let _ = addresses.insert(path, numbers);
        }
        let known = Schemas::of_description();
        let schemas = routes.iter().map(|route| known.of(route.request.as_deref()?)).collect();
        Self { routes, addresses, schemas }
    }

    pub(super) fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let Ok(matched) = self.addresses.at(path) else { return Found::Nothing };
        let rows = || matched.value.iter().map(|number| (*number, &self.routes[*number]));
        let asked = if method == Method::HEAD { Method::GET } else { method.clone() };
        let found = rows().find(|(_, route)| route.verb.as_str() == asked.as_str());
        let Some((number, route)) = found else {
            return Found::OtherVerbs(rows().map(|(_, route)| route.verb.as_str()).collect());
        };
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8().ok().map(String::from)
        };
        let named = |key| route.field_of(key).to_owned();
        let path = matched.params.iter().map(|(key, text)| Some((named(key), decoded(text)?)));
        let Some(path) = path.collect::<Option<Vec<_>>>() else { return Found::Nothing };
        Found::Route(FoundRoute { route, schema: self.schemas[number].as_ref(), path })
    }
}

#[cfg(test)]
mod tests {
    use super::super::openapi::DESCRIPTION;
    use super::super::route::{Access, Handling, Verb};
    use super::*;
    use crate::permit::Permit;

    #[test]
    fn every_row_can_be_found_by_its_address() {
        let table = Table::new();
        for route in &table.routes {
            let path = route.path.replace(['{', '}'], "");
            let method = Method::from_bytes(route.verb.as_str().as_bytes()).unwrap();
            let Found::Route(found) = table.find(&method, &path) else { panic!("{path}") };
            assert_eq!((found.route.verb, found.route.path), (route.verb, route.path));
        }
    }

    #[test]
    fn only_what_changes_nothing_is_asked_by_get_and_every_change_needs_the_token() {
        let open: Vec<&str> = Table::new()
            .routes
            .iter()
            .inspect(|route| {
                let is_change = route.access == Access::Change;
                assert!(!is_change || route.verb != Verb::Get, "{}", route.path);
            })
            .filter(|route| route.access == Access::Open)
            .map(|route| route.path)
            .collect();
        assert_eq!(open, ["/api/health", "/api/ready", "/api/openapi.json", "/api/login"]);
    }

    #[test]
    fn every_route_of_the_description_says_what_a_caller_needs() {
        let table = Table::new();
        let described: Value = serde_json::from_str(&DESCRIPTION).unwrap();
        let mut n_routes = 0;
        for (path, verbs) in described["paths"].as_object().unwrap() {
            for (verb, operation) in verbs.as_object().unwrap() {
                n_routes += 1;
                let is_it = |route: &&Route| {
                    route.path == path && route.verb.as_str().eq_ignore_ascii_case(verb)
                };
                let route = table.routes.iter().find(is_it).unwrap();
                let permit = route.permit.unwrap_or_else(|| panic!("{verb} {path} says nothing"));
                assert_eq!(operation["x-scope"], permit.as_str());
                assert_eq!(permit == Permit::Anybody, route.access == Access::Open, "{path}");
                let is_read = permit == Permit::Read && route.access == Access::Change;
                // A message may read or write; each tool says what it needs. A code lets in whoever asks for it.
                let is_known = ["/mcp", "/api/login-code"].contains(&route.path);
                assert!(!is_read || is_known, "{verb} {path} changes something");
            }
        }
        assert_eq!(n_routes, table.routes.len());
    }

    #[test]
    fn no_field_of_a_request_is_taken_by_the_server() {
        let table = Table::new();
        for (route, schema) in table.routes.iter().zip(&table.schemas) {
            let fields = schema.as_ref().and_then(|schema| schema["properties"].as_object());
            let is_task = matches!(route.handling, Handling::Task(_));
            let taken = |name: &str| name == "project" || (is_task && name == "wait");
            // A body of `/v1` may name its project.
            let has_body = route.path.starts_with("/v1");
            let mut names = fields.into_iter().flat_map(|fields| fields.keys());
            assert!(has_body || !names.any(|name| taken(name)), "{}", route.path);
        }
    }
}

//! What is served: one file a group of routes, each row an operation of `nacre-ops` with its bounds for a page or a program.

mod asking;
mod config;
mod connect;
mod map;
mod memories;
mod projects;
mod queue;
mod review;
mod runs;
mod server;
mod sessions;
mod tasks;
mod team;
mod transcripts;

use super::route::Route;

/// Every row, in the order of the description.
pub(super) fn all() -> Vec<Route> {
    let groups = [
        server::routes(),
        asking::routes(),
        memories::routes(),
        review::routes(),
        team::routes(),
        transcripts::routes(),
        sessions::routes(),
        runs::routes(),
        queue::routes(),
        tasks::routes(),
        projects::routes(),
        connect::routes(),
        config::routes(),
        map::routes(),
    ];
    groups.into_iter().flatten().collect()
}

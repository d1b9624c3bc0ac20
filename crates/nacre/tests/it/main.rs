//! A single binary for all tests that run `nacre` as a user would, and for the repository's own
//! rules.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests play the person, the disk and the clock"
)]

mod agents;
mod answering;
mod ask;
#[cfg(unix)]
mod ask_watched;
mod brief;
mod chat;
mod chat_acp;
#[cfg(unix)]
mod chat_followers;
#[cfg(target_os = "linux")]
mod chat_fuzz;
mod chat_memory;
mod chat_rpc;
#[cfg(unix)]
mod chat_server;
mod chat_task;
#[cfg(unix)]
mod compat;
mod concurrency;
mod config;
mod config_reference;
mod connect;
mod context;
mod delta;
mod deploy;
mod docs;
mod doctor;
mod error_table;
mod errors;
mod events;
mod explain;
mod explore;
mod export;
mod feedback;
mod finding;
mod first_day;
mod first_minute;
mod first_run;
#[cfg(unix)]
mod forgotten;
mod growing;
#[cfg(target_os = "linux")]
mod helper;
mod home;
mod hook;
mod hook_moments;
mod hook_server;
mod import;
mod init;
mod intake;
mod loopback;
mod maintain;
mod map_cache;
mod map_crashes;
mod map_strict;
mod mcp;
mod mcp_tools;
mod memory_add;
mod memory_archive;
mod memory_edit;
mod memory_forget;
mod memory_list;
mod memory_reset;
mod memory_search;
mod memory_show;
mod model;
mod operations;
mod origin;
mod people;
mod poisoning;
mod project;
#[cfg(unix)]
mod pty;
mod push_pull;
mod reader;
mod refresh;
mod report;
mod review;
mod revocation;
mod run;
mod runs;
mod say_what_is_true;
mod scenarios;
mod scopes;
mod search_code;
mod secrets;
mod serve;
mod service;
mod settings_by_project;
mod sharing;
mod skill;
mod status;
mod strangers;
mod strategy;
mod sync;
mod sync_run;
mod sync_watch;
#[cfg(unix)]
mod team;
mod team_report;
#[cfg(unix)]
mod terminal;
mod tidy;
mod trace_counts;
mod trace_show;
#[cfg(unix)]
mod transcripts;
mod trust;
mod undo;
mod usage;
mod watch;
mod websocket;

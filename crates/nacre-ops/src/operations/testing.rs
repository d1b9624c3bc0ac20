//! What tests of operations share.

#![expect(clippy::disallowed_methods, reason = "the tests play the agents and the person")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::{ConnectRequest, WiringOptions};
use tempfile::TempDir;

use super::connect::connect;
use crate::host::{Environment, Host, OpenOptions};

/// A host of its own: its time stands still, and it has a home and no project.
pub(crate) fn host(place: &TempDir) -> Host {
    let now = "2026-11-15T08:30:00Z".parse().unwrap();
    let environment = Environment {
        vars: Vec::new(),
        garbled_vars: Vec::new(),
        folder: place.path().to_owned(),
        is_folder_gone: false,
        home: Some(place.path().to_owned()),
        host: None,
        pid: 1,
        program: None,
        clock: Arc::new(move || now),
        uptime: Arc::new(|| Duration::ZERO),
        random: |_| Ok(()),
    };
    Host::open(environment, &OpenOptions::default()).host.unwrap()
}

/// A folder that holds a home.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A home with one registered project, and a folder of traces that is connected.
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for folder in [".nacre", "work/.git", "work/.nacre", "traces"] {
            fs::create_dir_all(place.root().join(folder)).unwrap();
        }
        let project =
            format!("[projects.work]\npath = \"{}\"\n", place.root().join("work").display());
        fs::write(place.root().join(".nacre/projects.toml"), project).unwrap();
        let paths = vec![place.root().join("traces").display().to_string()];
        let request = ConnectRequest::Add {
            agents: vec!["generic".to_owned()],
            paths,
            wiring: WiringOptions::default(),
        };
        connect(&place.host(), &request).unwrap();
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    /// A host by whose clock the traces have rested.
    pub(crate) fn host(&self) -> Host {
        self.host_at("2099-01-01T00:00:00Z")
    }

    pub(crate) fn host_at(&self, now: &str) -> Host {
        let now = now.parse().unwrap();
        let var = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
        let environment = Environment {
            vars: vec![var("HOME", &self.root())],
            garbled_vars: Vec::new(),
            folder: self.root().join("work"),
            is_folder_gone: false,
            home: Some(self.root()),
            host: None,
            pid: 7,
            program: None,
            clock: Arc::new(move || now),
            uptime: Arc::new(|| Duration::ZERO),
            random: |bytes| {
                bytes.fill(7);
                Ok(())
            },
        };
        Host::open(environment, &OpenOptions::default()).host.unwrap()
    }

    /// Writes a session in which a person said something; returns the path of its trace.
    pub(crate) fn talk(&self, id: &str, said: &str) -> String {
        let cwd = self.root().join("work").display().to_string();
        let text = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n\
             {{\"type\":\"user\",\"text\":\"{said}\",\"time\":\"2026-11-01T10:00:00Z\"}}\n\
             {{\"type\":\"assistant\",\"text\":\"Done.\",\"time\":\"2026-11-01T10:01:00Z\"}}\n"
        );
        let path = self.root().join(format!("traces/{id}.jsonl"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

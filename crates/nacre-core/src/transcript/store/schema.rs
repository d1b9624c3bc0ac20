//! Which tables of a database may be read: those that hold their columns, and compute nothing.
//!
//! A column may be an expression that is worked out while it is read, in one step of SQLite's machine however long that takes. No
//! agent has such columns, so that a table with one is not read at all.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::hooks::{AuthAction, Authorization};

use super::super::error::Result;
use super::{Store, Wish, number, text};

/// More tables no agent has; those beyond are not read.
const MAX_TABLES: usize = 1000;

/// How a table comes by its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Stored,
    /// It has generated columns, or is one of a module.
    Computed,
}

/// The tables of a database.
#[derive(Debug, Default)]
pub(super) struct Tables(HashMap<String, Table>);

/// What lists the columns of a table, and where their names and kinds stand in it. It is not `pragma_table_xinfo`, for a
/// stranger can make a table of that name.
pub(super) fn columns_of(table: &str) -> String {
    format!("PRAGMA table_xinfo('{}')", table.replace('\'', "''"))
}

pub(super) const COLUMN_NAME: usize = 1;
const COLUMN_KIND: usize = 6;

impl Tables {
    pub(super) fn list(store: &Store) -> Result<Self> {
        let mut names = Vec::new();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table'";
        store.rows(sql, [], |row| {
            names.extend(text(row, 0).map(Cow::into_owned));
            if names.len() < MAX_TABLES { Wish::More } else { Wish::Enough }
        })?;
        let with_kind = |name: String| {
            let kind = if is_stored(store, &name) { Table::Stored } else { Table::Computed };
            (name, kind)
        };
        let tables = names.into_iter().map(with_kind).collect();
        // Those that could not be looked at for the budget are not computed.
        store.check_budget()?;
        Ok(Self(tables))
    }

    pub(super) fn get(&self, name: &str) -> Option<Table> {
        self.0.get(name).copied()
    }

    /// Whether a statement may do this, while it is prepared.
    pub(super) fn judge(&self, action: &AuthAction<'_>) -> Authorization {
        #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else there is, is refused")]
        match action {
            AuthAction::Read { table_name, .. } if self.may_read(table_name) => {
                Authorization::Allow
            }
            AuthAction::Select | AuthAction::Function { .. } | AuthAction::Pragma { .. } => {
                Authorization::Allow
            }
            _ => Authorization::Deny,
        }
    }

    fn may_read(&self, name: &str) -> bool {
        // The schema has this name since before there were others for it, and no table of a stranger can have it as well.
        name == "sqlite_master" || self.get(name) == Some(Table::Stored)
    }
}

/// Whether a table holds all of its columns. Those of a module's table cannot be listed, for there are no modules.
fn is_stored(store: &Store, table: &str) -> bool {
    let mut is_stored = true;
    let listed = store.rows(&columns_of(table), [], |row| {
        is_stored &= number(row, COLUMN_KIND) == Some(0);
        Wish::More
    });
    is_stored && listed.is_ok()
}

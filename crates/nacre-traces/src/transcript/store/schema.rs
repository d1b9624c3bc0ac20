//! Determines which of a database's tables may be read. Tables with generated columns are rejected,
//! because such a column can take arbitrarily long to compute in a single step of SQLite's virtual
//! machine, and no agent uses them.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::hooks::{AuthAction, Authorization};

use super::image::Image;
use super::{Store, Wish, number, text};
use crate::transcript::error::Result;

/// Maximum size of a schema in bytes. Agents' schemas take up only a few kilobytes.
const MAX_SCHEMA: u64 = 512 * 1024;
/// Maximum number of pages in the schema table. If its rows have a normal length, a table with this
/// many pages far exceeds the maximum schema size.
const MAX_PAGES: usize = 2048;
const FILE_HEADER: usize = 100;
const LEAF: u8 = 0x0d;
const INTERIOR: u8 = 0x05;

/// No agent has this many tables. Access to any further tables is denied.
const MAX_TABLES: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Stored,
    /// The table has generated columns or is a virtual table.
    Computed,
}

#[derive(Debug, Default)]
pub(crate) struct Tables(HashMap<String, Table>);

/// Returns a query for a table's columns. The query does not use `pragma_table_xinfo`, because a
/// hostile database may contain a table with this name.
pub(crate) fn columns_of(table: &str) -> String {
    format!("PRAGMA table_xinfo('{}')", table.replace('\'', "''"))
}

pub(crate) const COLUMN_NAME: usize = 1;
const COLUMN_KIND: usize = 6;

impl Tables {
    pub(crate) fn list(store: &Store) -> Result<Self> {
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
        // Once the budget is used up, tables that were not examined must not be reported as
        // computed.
        store.check_budget()?;
        Ok(Self(tables))
    }

    pub(crate) fn get(&self, name: &str) -> Option<Table> {
        self.0.get(name).copied()
    }

    /// The authorizer callback, which decides whether a statement may perform an action.
    pub(crate) fn judge(&self, action: &AuthAction<'_>) -> Authorization {
        #[expect(clippy::wildcard_enum_match_arm, reason = "all other actions are denied")]
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
        // The name `sqlite_master` is reserved, so a database cannot define a table with it.
        name == "sqlite_master" || self.get(name) == Some(Table::Stored)
    }
}

/// Returns `true` if all of the table's columns are stored. Returns `false` for a virtual table,
/// because its columns cannot be listed without registered modules.
fn is_stored(store: &Store, table: &str) -> bool {
    let mut is_stored = true;
    let listed = store.rows(&columns_of(table), [], |row| {
        is_stored &= number(row, COLUMN_KIND) == Some(0);
        Wish::More
    });
    is_stored && listed.is_ok()
}

/// Returns `true` if the schema is too large to be parsed. Returns `false` for a file that is not a
/// database, because SQLite itself rejects it.
///
/// SQLite parses the complete schema on first use, and no step limit or interrupt stops it.
/// Therefore, this function walks the schema table and reads only the lengths of its rows. The
/// table's root is the first page (<https://www.sqlite.org/fileformat2.html>).
pub(crate) fn is_too_large(image: &Image) -> bool {
    let Some(page_size) = image.page_size() else { return false };
    let mut page = vec![0; page_size];
    let mut waiting = vec![1_u32];
    let (mut n_pages, mut n_bytes) = (0, 0_u64);
    while let Some(number) = waiting.pop() {
        n_pages += 1;
        let offset = u64::from(number.saturating_sub(1)).saturating_mul(page_size as u64);
        // SQLite itself will report the unreadable page.
        let Ok(n_read) = image.read_at(&mut page, offset) else { return false };
        page[n_read..].fill(0);
        let header = if number == 1 { FILE_HEADER } else { 0 };
        match page.get(header) {
            Some(&LEAF) => {
                let lengths = cells(&page, header, 8).map(|cell| length_at(&page, cell));
                n_bytes = lengths.fold(n_bytes, u64::saturating_add);
            }
            Some(&INTERIOR) => {
                waiting.extend(cells(&page, header, 12).map(|cell| word_at(&page, cell)));
                waiting.push(word_at(&page, header + 8));
            }
            Some(_) | None => {}
        }
        if MAX_SCHEMA < n_bytes || MAX_PAGES < n_pages + waiting.len() {
            return true;
        }
    }
    false
}

/// Returns the offsets of a page's cells. The cell pointer array follows the page header, which is
/// `n_header` bytes long.
fn cells(page: &[u8], header: usize, n_header: usize) -> impl Iterator<Item = usize> + '_ {
    let half = move |at: usize| {
        let bytes = page.get(at..).and_then(<[u8]>::first_chunk::<2>);
        bytes.map_or(0, |bytes| usize::from(u16::from_be_bytes(*bytes)))
    };
    (0..half(header + 3)).map(move |idx| half(header + n_header + idx * 2))
}

fn word_at(page: &[u8], at: usize) -> u32 {
    let bytes = page.get(at..).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Reads the varint at the start of a row: groups of seven bits, most significant first. A ninth
/// byte contributes all eight bits.
fn length_at(page: &[u8], at: usize) -> u64 {
    let mut length = 0_u64;
    for (idx, byte) in page.get(at..).unwrap_or_default().iter().take(9).enumerate() {
        if idx == 8 {
            return length << 8 | u64::from(*byte);
        }
        length = length << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return length;
        }
    }
    length
}

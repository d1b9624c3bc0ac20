//! Formats text for a terminal: colors, columns that fit its width, and relative times.
//!
//! Output is truncated only on a terminal. Other programs receive the complete text, full ids and
//! absolute times.

use std::fmt::Display;

use jiff::Timestamp;
use nacre_ops::text::Shown;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const GAP: usize = 2;

const MIN_FLEXIBLE: usize = 12;

const MIN_OTHER: usize = 4;

/// Zero-width character between a title and the note after it. Truncating a cell keeps the note.
pub(crate) const KEPT: char = '\u{200b}';

const DOTS: char = '…';

/// What a piece of text is, which determines its color.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Id,
    Title,
    Faint,
    Good,
    Warning,
    Bad,
    Plain,
}

pub(super) fn paint(is_on: bool, role: Role, text: impl Display) -> String {
    let code = match role {
        Role::Plain => return text.to_string(),
        Role::Id => "36",
        Role::Title => "1",
        Role::Faint => "2",
        Role::Good => "32",
        Role::Warning => "33",
        Role::Bad => "31",
    };
    if is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
}

pub(crate) type Cell = (Role, String);

pub(crate) type Row = Vec<Cell>;

pub(crate) fn cell(role: Role, text: impl Display) -> Cell {
    (role, Shown(&text.to_string()).one_line())
}

pub(crate) fn id(text: impl Display) -> Cell {
    cell(Role::Id, text)
}

pub(crate) fn title(text: impl Display) -> Cell {
    cell(Role::Title, text)
}

pub(crate) fn faint(text: impl Display) -> Cell {
    cell(Role::Faint, text)
}

/// Formats rows as aligned columns. If `width` is given, text is truncated to fit, beginning with
/// the column at index `flexible`.
pub(super) fn table_lines(
    rows: &[Row],
    width: Option<usize>,
    flexible: usize,
    color: bool,
) -> Vec<String> {
    let widths = widths(rows, width, flexible);
    let line = |row: &Row| {
        let mut line = String::new();
        for (idx, (role, cell)) in row.iter().enumerate() {
            let cell = cut_cell(cell, widths[idx]);
            line.push_str(&paint(color, *role, &cell));
            if idx + 1 < row.len() {
                line.push_str(&" ".repeat(widths[idx] - cell.width() + GAP));
            }
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

fn widths(rows: &[Row], width: Option<usize>, flexible: usize) -> Vec<usize> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widest = |column| cells(column).map(|(_, cell)| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..n_columns).map(widest).collect();
    let Some(room) = width else { return widths };
    let room = room.saturating_sub(GAP * n_columns.saturating_sub(1));
    let is_id = |column| cells(column).any(|(role, _)| matches!(role, Role::Id));
    let mut excess = widths.iter().sum::<usize>().saturating_sub(room);
    // Ids are never truncated, because a partial id cannot be used in a command.
    let mut others: Vec<usize> =
        (0..n_columns).filter(|column| *column != flexible && !is_id(*column)).collect();
    others.sort_by_key(|column| std::cmp::Reverse(widths[*column]));
    let first = Some(flexible).filter(|column| *column < n_columns);
    for column in first.into_iter().chain(others) {
        let least = if column == flexible { MIN_FLEXIBLE } else { MIN_OTHER };
        let given = widths[column].saturating_sub(least).min(excess);
        widths[column] -= given;
        excess -= given;
    }
    widths
}

/// Truncates a cell to a width. The text before a note is shortened first.
fn cut_cell(cell: &str, width: usize) -> String {
    let Some((text, kept)) = cell.split_once(KEPT) else { return cut(cell, width) };
    match width.checked_sub(kept.width()).filter(|room| *room >= MIN_OTHER) {
        Some(room) => cut(text, room) + kept,
        None => cut(&format!("{text}{kept}"), width),
    }
}

pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut shown, mut used) = (String::new(), 0);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        shown.push(c);
    }
    shown.truncate(shown.trim_end().len());
    shown.push(DOTS);
    shown
}

/// Splits text into lines of at most `width` columns, between words.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Formats a time relative to now. A time that cannot be parsed is returned as it is.
pub(super) fn ago(time: &str, now: Timestamp) -> String {
    let Ok(then) = time.parse::<Timestamp>() else { return time.to_owned() };
    let seconds = now.duration_since(then).as_secs();
    let amount = match seconds.unsigned_abs() {
        0..60 => return "just now".to_owned(),
        n @ 60..3600 => format!("{} min", n / 60),
        n @ 3600..86_400 => format!("{} h", n / 3600),
        n @ 86_400..172_800 => format!("{} day", n / 86_400),
        n @ 172_800..2_592_000 => format!("{} days", n / 86_400),
        _ => return day(time).to_owned(),
    };
    if seconds < 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

/// Returns the date of a timestamp such as `2026-11-15T08:30:00Z`.
pub(crate) fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Returns the date, hour and minute of a timestamp.
pub(crate) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replacen('T', " ", 1)
}

pub(super) fn to_second(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, rest)) if rest.ends_with('Z') => format!("{seconds}Z"),
        _ => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(width: Option<usize>, flexible: usize) -> Vec<String> {
        let row = |title: &str, what: &str, id: &str| {
            vec![
                (Role::Title, title.to_owned()),
                (Role::Faint, what.to_owned()),
                (Role::Id, id.to_owned()),
            ]
        };
        let rows = [
            row("Use SQLite for the queue of jobs", "decision", "20261115-use"),
            row("数据库 数据库 数据库 数据库 数据库", "pitfall", "2026"),
        ];
        table_lines(&rows, width, flexible, false)
    }

    #[test]
    fn a_title_gives_way_and_an_id_never_does() {
        assert_eq!(
            lines(Some(48), 0),
            [
                "Use SQLite for the queu…  decision  20261115-use",
                "数据库 数据库 数据库 数…  pitfall   2026",
            ]
        );
        assert!(lines(Some(48), 0).iter().all(|line| line.width() <= 48));
        assert!(lines(Some(1), 0).iter().all(|line| line.contains("2026")));
        assert_eq!(lines(None, 0), lines(Some(500), 0));
    }

    #[test]
    fn a_note_stays_when_its_title_is_cut() {
        let row =
            |title: &str| vec![(Role::Title, title.to_owned()), (Role::Id, "2026".to_owned())];
        let rows = [
            row(&format!("Use SQLite for the queue of jobs{KEPT}  (candidate)")),
            row(&format!("Tabs{KEPT}  (candidate)")),
            row("Use SQLite for the sessions of people"),
        ];
        let lines = |width| table_lines(&rows, width, 0, false);
        assert_eq!(
            lines(Some(40)),
            [
                "Use SQLite for the q…  (candidate)  2026",
                "Tabs  (candidate)                   2026",
                "Use SQLite for the sessions of pe…  2026",
            ]
        );
        assert!(lines(None)[0].starts_with("Use SQLite for the queue of jobs  (candidate)"));
        assert!(lines(Some(10)).iter().all(|line| line.contains("2026")));
    }

    #[test]
    fn text_is_wrapped_between_words() {
        assert_eq!(
            wrap("use one  file\nfor 数据库 数据库", 8),
            ["use one", "file for", "数据库", "数据库"]
        );
        assert_eq!(wrap("github.com/pearl/queue it is", 8), ["github.com/pearl/queue", "it is"]);
    }

    #[test]
    fn ages_are_rounded_to_one_unit() {
        let now: Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
        for (time, expected) in [
            ("2026-11-15T08:29:30.5Z", "just now"),
            ("2026-11-15T08:28:00Z", "2 min ago"),
            ("2026-11-15T09:30:00Z", "in 1 h"),
            ("2026-11-14T08:30:00Z", "1 day ago"),
            ("2026-11-05T08:30:00Z", "10 days ago"),
            ("2026-06-18T16:42:00Z", "2026-06-18"),
            ("yesterday", "yesterday"),
        ] {
            assert_eq!(ago(time, now), expected);
        }
        assert_eq!(to_second("2026-11-16T18:13:03.348795815Z"), "2026-11-16T18:13:03Z");
        assert_eq!(to_second("2026-11-16T18:13:03Z"), "2026-11-16T18:13:03Z");
    }
}

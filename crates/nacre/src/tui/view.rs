//! Draws the state. `ScreenState::settle` has already decided the layout.

use nacre_types::ChecklistState;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::editor::{display_row, place, rows};
use super::state::areas::{Areas, INPUT_MARK, MAX_PLAN, MAX_QUEUE, input_columns};
use super::state::panel::{ListKind, ListPanel, PagePanel, Panel};
use super::state::turn::{RunningTurn, dollars};
use super::state::{GUTTER, ScreenState, Scroll};
use super::text::{clean_line, cut, duration, group_digits, width};
use super::theme::{Role, Theme};

/// Draws a settled state. Returns where the cursor is, if it is visible.
pub(crate) fn view(state: &ScreenState, areas: &Areas, buffer: &mut Buffer) -> Option<Position> {
    if buffer.area.is_empty() {
        return None;
    }
    draw_status(state, areas.status, buffer);
    if let Some(panel) = &state.panel {
        draw_panel(panel, areas.panel, state.theme, buffer);
        return None;
    }
    draw_transcript(state, areas.transcript, buffer);
    draw_plan(state, areas.plan, buffer);
    draw_queue(state, areas.queue, buffer);
    draw_dialog(state, areas.dialog, buffer);
    let cursor = draw_input(state, areas.input, buffer);
    draw_completion(state, areas.input, buffer);
    if state.browsed.is_some() { None } else { cursor }
}

fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    if row < area.height {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

fn put_text(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    put(buffer, area, row, &Line::from(Span::styled(text, style)));
}

fn put_rule(buffer: &mut Buffer, area: Rect, row: u16, left: &str, right: &str, theme: Theme) {
    let columns = usize::from(area.width);
    let right = cut(right, columns.saturating_sub(6));
    let left = cut(left, columns.saturating_sub(width(&right) + 8));
    let spaced = |text: &str| if text.is_empty() { String::new() } else { format!(" {text} ") };
    let (left, right) = (spaced(&left), spaced(&right));
    let fill = columns.saturating_sub(width(&left) + width(&right) + 4);
    let text = format!("──{left}{}{right}──", "─".repeat(fill));
    put_text(buffer, area, row, &text, theme.style(Role::Faint));
}

fn row(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

const WELCOME: [&str; 3] = [
    "Describe what you want done in this project.",
    "`/help` lists keys and commands, `@` mentions a file, `/resume` continues the",
    "last session. `/policy` sets which actions need your approval.",
];

fn draw_transcript(state: &ScreenState, area: Rect, buffer: &mut Buffer) {
    if state.transcript.is_empty() {
        put(buffer, area, 0, &Line::styled("Nacre", state.theme.style(Role::Heading)));
        for (idx, text) in WELCOME.iter().enumerate() {
            put_text(buffer, area, row(idx + 1), text, state.theme.style(Role::Faint));
        }
        return;
    }
    let gutter = u16::try_from(GUTTER).unwrap_or(0).min(area.width);
    let inner = Rect { x: area.x + gutter, width: area.width - gutter, ..area };
    let shown = &state.transcript.shown;
    // A short transcript is aligned to the bottom, next to the input.
    let top = area.height.saturating_sub(row(shown.len()));
    for (idx, shown) in shown.iter().enumerate() {
        let at = top + row(idx);
        let Some(line) = shown.line.and_then(|line| state.transcript.lines(shown.idx).get(line))
        else {
            continue;
        };
        put(buffer, inner, at, line);
        let is_selected = state.transcript.cell(shown.idx).map(|cell| cell.id) == state.browsed;
        if is_selected && state.browsed.is_some() {
            put_text(buffer, area, at, "▌", state.theme.style(Role::Accent));
        }
    }
}

fn draw_plan(state: &ScreenState, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let is_done = |state: ChecklistState| state == ChecklistState::Done;
    let n_done = state.plan.iter().filter(|item| is_done(item.state)).count();
    let title = format!("Plan: {n_done} of {} done", state.plan.len());
    put_rule(buffer, area, 0, &title, "Ctrl-T hides it", state.theme);
    // Scroll until the current item is visible.
    let current = state.plan.iter().position(|item| !is_done(item.state)).unwrap_or(0);
    let first = current.saturating_sub(MAX_PLAN / 2).min(state.plan.len().saturating_sub(MAX_PLAN));
    for (idx, item) in state.plan.iter().skip(first).take(MAX_PLAN).enumerate() {
        let (mark, role) = match item.state {
            ChecklistState::Pending => ("[ ]", Role::Text),
            ChecklistState::InProgress => ("[>]", Role::Accent),
            ChecklistState::Done => ("[x]", Role::Faint),
            ChecklistState::Failed => ("[!]", Role::Bad),
        };
        let text = cut(&format!("  {mark} {}", item.label), usize::from(area.width));
        put_text(buffer, area, row(idx + 1), &text, state.theme.style(role));
    }
}

fn draw_queue(state: &ScreenState, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let style = state.theme.style(Role::Faint);
    let waiting: Vec<_> = state.prompts.iter().filter(|prompt| prompt.is_waiting()).collect();
    for (idx, prompt) in waiting.iter().take(MAX_QUEUE).enumerate() {
        let text = format!("  queued {}: {}", idx + 1, clean_line(&prompt.text));
        put_text(buffer, area, row(idx), &cut(&text, usize::from(area.width)), style);
    }
    if waiting.len() > MAX_QUEUE {
        let text = format!("  and {} more", waiting.len() - MAX_QUEUE);
        put_text(buffer, area, row(MAX_QUEUE), &text, style);
    }
}

fn draw_dialog(state: &ScreenState, area: Rect, buffer: &mut Buffer) {
    let Some(question) = state.approvals.front().filter(|_| !area.is_empty()) else { return };
    let theme = state.theme;
    let columns = usize::from(area.width);
    let more = match state.approvals.len() {
        1 => String::new(),
        n => format!("{} more below", n - 1),
    };
    put_rule(buffer, area, 0, &format!("The agent asks: {}", question.request.tool), &more, theme);
    let summary = cut(&format!("  {}", question.request.summary), columns);
    put_text(buffer, area, 1, &summary, theme.style(Role::Warning));
    let n_rows = usize::from(area.height.saturating_sub(4));
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    for (idx, line) in question.lines.iter().skip(question.scroll).take(n_rows).enumerate() {
        put(buffer, inner, row(idx + 2), line);
    }
    let below = question.lines.len().saturating_sub(question.scroll + n_rows);
    let rest = match (below, question.scroll) {
        (0, 0) => String::new(),
        (0, _) => "end; press Up to see more".to_owned(),
        (below, _) => format!("{below} more lines: Down"),
    };
    put_rule(buffer, area, area.height.saturating_sub(2), "", &rest, theme);
    let is_armed = question.is_armed(state.now, state.last_key);
    let keys = match (&question.reason, is_armed) {
        (None, true) if !question.was_end_seen => {
            "  Down or End to the end, then y and s · n no · e no, with a reason · Esc stops the \
             agent"
        }
        (None, true) => {
            "  y once · s in this session · n no · e no, with a reason · Esc stops the agent"
        }
        (None, false) => "  Pause typing for half a second to answer · Esc stops the agent",
        (Some(_), _) => "  Reason for rejecting. Enter sends it · Esc goes back",
    };
    let last = area.height.saturating_sub(1);
    put_text(buffer, area, last, &cut(keys, columns), theme.style(Role::Heading));
}

const MAX_CHOICES: usize = 8;

fn draw_input(state: &ScreenState, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let reason = state.approvals.front().and_then(|question| question.reason.as_ref());
    let editor = reason.unwrap_or(&state.editor);
    let has_rule = area.height > 1;
    if has_rule {
        let title = state.session.as_ref().map(|session| clean_line(&session.title));
        let title = title.unwrap_or_default();
        put_rule(buffer, area, 0, &title, &scroll_note(state), state.theme);
    }
    let text_area =
        Rect { y: area.y + u16::from(has_rule), height: area.height - u16::from(has_rule), ..area };
    let rows = rows(editor.text(), input_columns(state));
    let (cursor_row, column) = place(editor.text(), &rows, editor.cursor());
    let n_rows = usize::from(text_area.height);
    let first = (cursor_row + 1).saturating_sub(n_rows);
    let mark = if reason.is_some() { "! " } else { "> " };
    put_text(buffer, text_area, 0, mark, state.theme.style(Role::User));
    let inner = Rect {
        x: area.x + INPUT_MARK.min(area.width),
        width: area.width.saturating_sub(INPUT_MARK),
        ..text_area
    };
    for (idx, range) in rows.iter().skip(first).take(n_rows).enumerate() {
        let shown = display_row(&editor.text()[range.clone()]);
        put_text(buffer, inner, row(idx), &shown, state.theme.style(Role::Text));
    }
    let x = inner.x.saturating_add(row(column)).min(area.right().saturating_sub(1));
    Some(Position::new(x, text_area.y + row(cursor_row - first)))
}

fn scroll_note(state: &ScreenState) -> String {
    let transcript = &state.transcript;
    if transcript.scroll == Scroll::Follow {
        return String::new();
    }
    let is_at_top = transcript.shown.first().is_some_and(|shown| shown.idx == 0);
    let is_cut = transcript.n_dropped > 0 && transcript.first_sequence().is_none();
    match (is_at_top && is_cut, transcript.has_news) {
        (true, _) => {
            let n_dropped = group_digits(transcript.n_dropped as u64);
            format!("{n_dropped} earlier items: /resume shows them")
        }
        (false, true) => "new below: Ctrl-End".to_owned(),
        (false, false) => "more below: Ctrl-End".to_owned(),
    }
}

fn draw_completion(state: &ScreenState, input: Rect, buffer: &mut Buffer) {
    let Some(completion) = state.completion.as_ref().filter(|_| state.approvals.is_empty()) else {
        return;
    };
    let n_rows = completion.choices.len().min(MAX_CHOICES).min(usize::from(input.y));
    let first = (completion.selected + 1).saturating_sub(n_rows);
    let shown = completion.choices.iter().enumerate().skip(first).take(n_rows);
    let names = shown.clone().map(|(_, choice)| width(choice.text.trim_end())).max().unwrap_or(0);
    let columns = usize::from(input.width).saturating_sub(2);
    let names = names.min(columns / 2);
    let area = Rect { y: input.y - row(n_rows), height: row(n_rows), ..input };
    for (at, (idx, choice)) in shown.enumerate() {
        let name =
            cut(choice.text.trim_end(), if choice.help.is_empty() { columns } else { names });
        let pad = " ".repeat(names.saturating_sub(width(&name)));
        let text = cut(&format!("{name}{pad}  {}", choice.help), columns);
        let fill = " ".repeat(columns.saturating_sub(width(&text)));
        let role = if idx == completion.selected { Role::Selected } else { Role::Accent };
        put_text(buffer, area, row(at), &format!("  {text}{fill}"), state.theme.style(role));
    }
}

fn draw_panel(panel: &Panel, area: Rect, theme: Theme, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let n_rows = usize::from(area.height.saturating_sub(2));
    match panel {
        Panel::List(list) => draw_list(list, area, n_rows, theme, buffer),
        Panel::Page(page) => draw_page(page, area, n_rows, theme, buffer),
    }
}

fn draw_list(list: &ListPanel, area: Rect, n_rows: usize, theme: Theme, buffer: &mut Buffer) {
    put_rule(buffer, area, 0, &list.title, "", theme);
    let columns = usize::from(area.width);
    if list.rows.is_empty() {
        put_text(buffer, area, 1, &format!("  {}", list.empty), theme.style(Role::Faint));
    }
    for (at, (idx, entry)) in list.rows.iter().enumerate().skip(list.first).take(n_rows).enumerate()
    {
        let detail = cut(&entry.detail, columns / 2);
        let room = columns.saturating_sub(width(&detail) + 6);
        let text = cut(&entry.text, room);
        let pad = " ".repeat(room.saturating_sub(width(&text)));
        let role = if idx == list.selected { Role::Selected } else { Role::Text };
        let line = format!("  {text}{pad}  {detail}  ");
        put_text(buffer, area, row(at + 1), &cut(&line, columns), theme.style(role));
    }
    let keys = match list.kind {
        ListKind::Sessions | ListKind::Hits => "Enter resumes it · Esc closes",
        ListKind::Memories => "Enter opens it · e edits it · Esc closes",
        ListKind::Skills => "Enter selects it · Esc closes",
    };
    let last = area.height.saturating_sub(1);
    put_text(buffer, area, last, &format!("  {keys}"), theme.style(Role::Faint));
}

fn draw_page(page: &PagePanel, area: Rect, n_rows: usize, theme: Theme, buffer: &mut Buffer) {
    put_rule(buffer, area, 0, &page.title, "", theme);
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    for (at, line) in page.lines.iter().skip(page.scroll).take(n_rows).enumerate() {
        put(buffer, inner, row(at + 1), line);
    }
    let below = page.lines.len().saturating_sub(page.scroll + n_rows);
    let rest = if below > 0 { format!("{below} more lines · ") } else { String::new() };
    let keys = format!("  {rest}Up, Down, PageUp, PageDown · Esc closes");
    put_text(buffer, area, area.height.saturating_sub(1), &keys, theme.style(Role::Faint));
}

/// If the right side would be narrower than this, it is not shown.
const MIN_RIGHT: usize = 8;

const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

fn draw_status(state: &ScreenState, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width);
    let (left, role) = status_left(state);
    let right = status_right(state);
    let room = columns.saturating_sub(1);
    // The left side has priority.
    let rest = room.saturating_sub(width(&left) + 2);
    let right = if rest < MIN_RIGHT { String::new() } else { cut(&right, rest) };
    let left = cut(&left, room.saturating_sub(width(&right) + 2));
    let pad = " ".repeat(room.saturating_sub(width(&left) + width(&right)));
    let line = Line::from(vec![
        Span::styled(left, state.theme.style(role)),
        Span::raw(pad),
        Span::styled(right, state.theme.style(Role::Faint)),
    ]);
    put(buffer, area, 0, &line);
}

fn status_left(state: &ScreenState) -> (String, Role) {
    if let Some(flash) = &state.flash {
        let role = if flash.tone == Role::Faint { Role::Text } else { flash.tone };
        return (format!(" {}", flash.text), role);
    }
    if state.is_closed {
        return (" the connection to the agent was lost · /quit quits".to_owned(), Role::Bad);
    }
    if state.browsed.is_some() {
        let keys = " Enter expands · a all · z collapse all · Esc back to the input";
        return (keys.to_owned(), Role::Accent);
    }
    match &state.turn {
        Some(turn) => (working(turn, state.now), Role::Accent),
        None if state.session.is_none() => (" opening the session".to_owned(), Role::Faint),
        None => (" Enter sends · Alt-Enter new line · /help".to_owned(), Role::Faint),
    }
}

fn working(turn: &RunningTurn, now: u64) -> String {
    let since = now.saturating_sub(turn.since);
    let time = match since / 1_000 {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => duration(since),
    };
    if turn.is_stopping {
        return format!(" stopping after {time}");
    }
    let frame = usize::try_from(since / 500).unwrap_or(0) % SPINNER.len();
    let step = if turn.step > 0 { format!(" · step {}", turn.step) } else { String::new() };
    format!(" {} working {time} · Enter queues · Ctrl-S steers · Esc stops{step}", SPINNER[frame])
}

fn status_right(state: &ScreenState) -> String {
    let Some(session) = &state.session else { return String::new() };
    let model = state.turn.as_ref().map(|turn| turn.model.clone());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(model.or_else(|| session.model.as_deref().map(clean_line)));
    parts.push(session.policy.label().to_owned());
    parts.extend(state.usage.context_percent().map(|percent| format!("{percent}% full")));
    parts.extend(state.usage.cost().map(dollars));
    parts.join(" · ")
}

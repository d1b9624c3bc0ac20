//! The secret key of an AWS account beside its key id, in tables and notes that name neither.

use super::finding::{FoundSecret, Weight};
use super::judge;
use super::text::Text;

/// The kind of the rule that finds the id.
pub(super) const ID_KIND: &str = "aws-access-key";

const LEN: usize = 40;

/// How far from the id its secret key may begin or end.
const MAX_AWAY: usize = 160;

/// The key stands on the line of its id, or on the next.
const MAX_BREAKS: usize = 1;

/// Returns the secret key beside the id at `start..end`.
pub(super) fn find_secret(text: &Text<'_>, start: usize, end: usize) -> Option<FoundSecret> {
    let behind = text.rest(end);
    let behind = &behind[..behind.len().min(MAX_AWAY)];
    let floor = start.saturating_sub(MAX_AWAY);
    let before = text.slice(floor, start);
    let line = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    let at = key_in(behind, text.at(end + behind.len())).map(|at| end + at);
    let at = at.or_else(|| Some(floor + line + key_in(&before[line..], None)?))?;
    Some(FoundSecret::new(at..at + LEN, "aws-secret-key", Weight::Shape))
}

/// Returns where the first secret key of `bytes` begins; `next` follows them.
fn key_in(bytes: &[u8], next: Option<u8>) -> Option<usize> {
    let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/');
    let (mut pos, mut n_breaks) = (0, 0);
    while pos < bytes.len() {
        let run = &bytes[pos..];
        let n_run = run.iter().take_while(is_key).count();
        let is_whole = pos + n_run < bytes.len() || next.is_none_or(|byte| !is_key(&&byte));
        if n_run == LEN && is_whole && is_secret(&run[..LEN]) {
            return Some(pos);
        }
        let (is_break, n_mark) = match run.get(n_run..) {
            Some([b'\r', b'\n', ..]) => (true, 2),
            Some([b'\n' | b'\r', ..]) => (true, 1),
            Some([b'\\', b'n', ..]) => (true, 2),
            Some([b'\\', b'r' | b't', ..]) => (false, 2),
            Some(_) | None => (false, 1),
        };
        n_breaks += usize::from(is_break);
        if n_breaks > MAX_BREAKS {
            return None;
        }
        pos += n_run + n_mark;
    }
    None
}

/// Says whether forty characters are no hash, no path and no stand-in.
fn is_secret(key: &[u8]) -> bool {
    !key.iter().all(u8::is_ascii_hexdigit) && judge::is_random(key) && !judge::has_placeholder(key)
}

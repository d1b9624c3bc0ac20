//! What `git cat-file --batch` answers, object by object.

/// One object: its bytes, where git has it, and what follows it; `None` where the answer ends.
pub fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', answer)?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let rest = &answer[end + 1..];
    let Some(size) = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok()) else {
        return Some((None, rest));
    };
    let (bytes, rest) = rest.split_at_checked(size)?;
    Some((Some(bytes), rest.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_one_after_another_and_missing_ones_are_told() {
        let answer = b"aa blob 3\nx\ny\nbb missing\ncc blob 0\n\n";
        let (bytes, rest) = next_object(answer).unwrap();
        assert_eq!(bytes, Some(b"x\ny".as_slice()));
        let (bytes, rest) = next_object(rest).unwrap();
        assert_eq!(bytes, None);
        assert_eq!(next_object(rest), Some((Some(b"".as_slice()), b"".as_slice())));
        for cut in [b"".as_slice(), b"aa blob 9\nx", b"aa blob 1\nx"] {
            assert_eq!(next_object(cut), None);
        }
    }
}

//! Reads one file out of a wheel, which is a zip archive.
//!
//! Only what a wheel needs: stored and deflated entries, found through the table at the end. Every
//! size is checked before it is believed; whether the content is the right one is for its reader.

/// No file that we want out of a wheel is larger.
const MAX_FILE_BYTES: usize = 256 << 20;

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";

/// The content of the file `name`; `None` when it is not there or cannot be read.
pub(super) fn file(wheel: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut rest = wheel.get(table_start(wheel)?..)?;
    loop {
        rest = rest.strip_prefix(ENTRY)?;
        let [n_name, n_extra, n_comment] = [24, 26, 28].map(|at| short(rest, at));
        let found = rest.get(42..42 + n_name?)?;
        if found == name.as_bytes() {
            return content(wheel, rest);
        }
        rest = rest.get(42 + n_name? + n_extra? + n_comment?..)?;
    }
}

/// Where the table of files begins: the last record says so, and a comment may follow that.
fn table_start(wheel: &[u8]) -> Option<usize> {
    let tail = wheel.len().saturating_sub(22 + usize::from(u16::MAX));
    let at = wheel[tail..].windows(END.len()).rposition(|window| window == END)?;
    long(&wheel[tail + at..], 16)
}

/// The content of an entry of the table, whose mark was taken off.
fn content(wheel: &[u8], entry: &[u8]) -> Option<Vec<u8>> {
    let (method, n_packed, n_plain) = (short(entry, 6)?, long(entry, 16)?, long(entry, 20)?);
    let local = wheel.get(long(entry, 38)?..)?.strip_prefix(LOCAL)?;
    let first = 26 + short(local, 22)? + short(local, 24)?;
    let packed = local.get(first..first.checked_add(n_packed)?)?;
    if n_plain > MAX_FILE_BYTES {
        return None;
    }
    let plain = match method {
        0 => packed.to_vec(),
        8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, n_plain).ok()?,
        _ => return None,
    };
    (plain.len() == n_plain).then_some(plain)
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A wheel of these files, every other one deflated.
    fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut bytes, mut table) = (Vec::new(), Vec::new());
        for (idx, (name, plain)) in files.iter().enumerate() {
            let (method, packed) = match idx % 2 {
                0 => (0_u16, plain.to_vec()),
                _ => (8, miniz_oxide::deflate::compress_to_vec(plain, 6)),
            };
            let at = u32::try_from(bytes.len()).unwrap();
            let sizes = [packed.len(), plain.len()].map(|size| u32::try_from(size).unwrap());
            let n_name = u16::try_from(name.len()).unwrap();
            let mut common = [20_u16, 0, method, 0, 0, 0, 0].map(u16::to_le_bytes).concat();
            common.extend(sizes.map(u32::to_le_bytes).concat());
            common.extend([n_name, 0].map(u16::to_le_bytes).concat());
            bytes.extend([LOCAL, &common, name.as_bytes(), &packed].concat());
            table.extend([ENTRY, &[20, 0], &common, &[0; 10], &at.to_le_bytes()].concat());
            table.extend(name.as_bytes());
        }
        let n_files = u16::try_from(files.len()).unwrap();
        let sizes = [table.len(), bytes.len()].map(|size| u32::try_from(size).unwrap());
        bytes.extend(table);
        bytes.extend([END, &[0; 4], &n_files.to_le_bytes(), &n_files.to_le_bytes()].concat());
        bytes.extend(sizes.map(u32::to_le_bytes).concat());
        bytes.extend([0, 0]);
        bytes
    }

    fn sample() -> Vec<u8> {
        wheel(&[("a/one.txt", b"first"), ("a/two.txt", &[7; 1000]), ("three", b"")])
    }

    #[test]
    fn files_are_found_by_name() {
        let wheel = sample();
        assert_eq!(file(&wheel, "a/one.txt").as_deref(), Some(&b"first"[..]));
        assert_eq!(file(&wheel, "a/two.txt").as_deref(), Some(&[7; 1000][..]));
        assert_eq!(file(&wheel, "three").as_deref(), Some(&b""[..]));
        assert_eq!(file(&wheel, "a/four.txt"), None);
        assert_eq!(file(b"PK", "three"), None);
        let with_comment = [&wheel[..], b"a comment"].concat();
        assert!(file(&with_comment, "three").is_some());
    }

    proptest! {
        #[test]
        fn damage_is_no_danger(at in any::<proptest::sample::Index>(), value in any::<u8>()) {
            let mut bytes = sample();
            let at = at.index(bytes.len());
            bytes[at] = value;
            for name in ["a/one.txt", "a/two.txt", "three", "four"] {
                prop_assert!(file(&bytes, name).is_none_or(|plain| plain.len() <= 1000));
                let _ = file(&bytes[..at], name);
            }
        }
    }
}

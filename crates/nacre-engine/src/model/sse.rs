//! Parses server-sent events from a byte stream.
//!
//! Chunks may end anywhere, even inside a character, so incomplete lines are kept as bytes.
//! Oversized lines and events are errors, so that a server cannot exhaust memory.

/// Maximum length of a line. The longest lines in practice contain a whole tool call.
const MAX_LINE: usize = 1 << 20;

const MAX_EVENT: usize = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) event: Option<String>,
    pub(super) data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the event stream contains a line of more than {MAX_LINE} bytes")]
pub(super) struct TooLong;

#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    frame: Frame,
    has_data: bool,
    /// Whether the last byte was a carriage return, which may be followed by a line feed.
    after_cr: bool,
    seen_first_line: bool,
}

impl SseParser {
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, ending) = rest.split_at(end.unwrap_or(rest.len()));
            if MAX_LINE < self.line.len() + piece.len() {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            if let Some(&byte) = ending.first() {
                self.after_cr = byte == b'\r';
                self.end_line(out)?;
            }
            rest = ending.get(1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Returns the last event if the stream ended before it was complete. Many servers omit the
    /// final empty line.
    pub(super) fn finish(mut self) -> Option<Frame> {
        let mut out = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut out).ok()?;
        }
        out.pop().or_else(|| self.take_frame())
    }

    fn end_line(&mut self, out: &mut Vec<Frame>) -> Result<(), TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let is_first = !std::mem::replace(&mut self.seen_first_line, true);
        let line = if is_first { line.trim_start_matches('\u{feff}') } else { &line };
        if line.is_empty() {
            out.extend(self.take_frame());
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.frame.event = Some(value.to_owned()),
            "data" => self.add_data(value)?,
            // Comments, IDs and reconnection times are ignored.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), TooLong> {
        if MAX_EVENT < self.frame.data.len() + value.len() {
            return Err(TooLong);
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.frame.data.push('\n');
        }
        self.frame.data.push_str(value);
        Ok(())
    }

    fn take_frame(&mut self) -> Option<Frame> {
        let frame = std::mem::take(&mut self.frame);
        std::mem::take(&mut self.has_data).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Result<Vec<Frame>, TooLong> {
        let mut parser = SseParser::default();
        let mut out = Vec::new();
        for piece in pieces {
            parser.push(piece, &mut out)?;
        }
        out.extend(parser.finish());
        Ok(out)
    }

    fn parse_frames(text: &str) -> Vec<(Option<String>, String)> {
        let frames = parse(&[text.as_bytes()]).unwrap();
        frames.into_iter().map(|frame| (frame.event, frame.data)).collect()
    }

    fn data(texts: &[&str]) -> Vec<(Option<String>, String)> {
        texts.iter().map(|text| (None, (*text).to_owned())).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("data: a\n\n", data(&["a"])),
            ("\u{feff}data: a\n\n", data(&["a"])),
            ("data:a\r\n\r\ndata: b\r\r", data(&["a", "b"])),
            ("data: a\ndata: b\n\n", data(&["a\nb"])),
            (": keep alive\n\ndata:  two spaces\n\n", data(&[" two spaces"])),
            ("data\n\n", data(&[""])),
            ("id: 1\nretry: 5\n\n", data(&[])),
            ("data: [DONE]", data(&["[DONE]"])),
            ("event: ping\ndata: {}\n\n", vec![(Some("ping".to_owned()), "{}".to_owned())]),
            ("event: lost\n\ndata: x\n\n", data(&["x"])),
        ] {
            assert_eq!(parse_frames(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_has_a_cap() {
        let fits = format!("data: {}\n\n", "x".repeat(MAX_LINE - 6));
        assert_eq!(parse(&[fits.as_bytes()]).unwrap().len(), 1);
        let long = "x".repeat(MAX_LINE / 2 + 1);
        assert_eq!(parse(&[long.as_bytes(), long.as_bytes()]), Err(TooLong));
        let line = format!("data: {}\n", "x".repeat(MAX_LINE - 6));
        assert_eq!(parse(&[line.repeat(5).as_bytes()]), Err(TooLong));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            text in "(data|event|id|:|: |ö|\\{\"a\":1\\}|\n|\r\n|\r|\u{feff}| ){0,60}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in places.into_iter().chain([bytes.len()]) {
                pieces.push(&bytes[from..to]);
                from = to;
            }
            prop_assert_eq!(parse(&pieces), parse(&[bytes]));
        }

        #[test]
        fn no_bytes_can_break_it(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let singles: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(parse(&singles), parse(&[&bytes]));
        }
    }
}

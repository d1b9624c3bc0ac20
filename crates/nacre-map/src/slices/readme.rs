//! Extracts the first paragraph of prose from a README in Markdown or reStructuredText. Badges,
//! headings, link lists and HTML are skipped.

const MAX_CHARS: usize = 480;

const MAX_LINES: usize = 400;

/// Minimum number of words in a paragraph. Shorter paragraphs are slogans or labels, and are used
/// only if no paragraph is long enough.
const MIN_WORDS: usize = 8;

const NO_PROSE: &[&str] =
    &["#", "===", "---", "***", "~~~", "```", "|", "..", ":", "![", "> **", "> [!"];

pub(super) fn first_paragraph(text: &str) -> Option<String> {
    let mut fallback = None;
    for paragraph in paragraphs(text) {
        let words = paragraph.split_whitespace().count();
        if MIN_WORDS <= words {
            return Some(cut(without_announcement(&paragraph), MAX_CHARS));
        }
        if 2 <= words && fallback.is_none() {
            fallback = Some(cut(&paragraph, MAX_CHARS));
        }
    }
    fallback
}

/// Removes the last sentence if it only introduces a list, such as "It is:".
fn without_announcement(text: &str) -> &str {
    let end = text.rfind(". ").filter(|_| text.ends_with(':'));
    end.map_or(text, |end| &text[..=end])
}

pub(super) fn first_sentence(text: &str, max_chars: usize) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    cut(text[..end].trim().trim_end_matches([':', '.']), max_chars)
}

fn paragraphs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut is_code = false;
    let text = text.trim_start_matches('\u{feff}');
    for line in text.lines().take(MAX_LINES).map(str::trim).chain([""]) {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_underline(line) && !line.starts_with("```") {
            // The lines above an underline are a heading.
            block.clear();
        } else if line.is_empty() || is_code || is_apart(line) {
            found.extend(prose(&block));
            block.clear();
        } else {
            block.push(line);
        }
    }
    found
}

fn is_apart(line: &str) -> bool {
    let is_item = ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark));
    is_item || is_underline(line) || NO_PROSE.iter().any(|mark| line.starts_with(mark))
}

fn is_underline(line: &str) -> bool {
    let first = line.chars().next();
    let is_mark = |c: char| c.is_ascii_punctuation() && Some(c) == first;
    3 <= line.len() && line.chars().all(is_mark)
}

/// Returns the words in a block, or `None` if the block consists mainly of links, images and tags.
fn prose(block: &[&str]) -> Option<String> {
    let joined = block.join(" ");
    let plain = without_links(&without_tags(&joined));
    let plain = plain.replace(['`', '*'], "").replace("__", "");
    let plain = plain.trim_start_matches(['>', ' ']);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let n_letters = plain.chars().filter(|c| c.is_alphabetic()).count();
    let n_links = joined.matches("](").count() + joined.matches("][").count();
    let n_tags = joined.matches('<').count();
    let is_prose = 2 * (n_links + n_tags) < words.len() && plain.len() < 4 * n_letters;
    (is_prose && !words.is_empty()).then(|| words.join(" "))
}

fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let is_tag =
            rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!".contains(c));
        match rest[at..].find('>').filter(|_| is_tag) {
            Some(end) => rest = &rest[at + end + 1..],
            None => {
                plain.push('<');
                rest = &rest[at + 1..];
            }
        }
    }
    plain + rest
}

/// Replaces `[text](url)` with its text, and removes images.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let is_picture = rest[..at].ends_with('!');
        plain.push_str(rest[..at].trim_end_matches('!'));
        rest = &rest[at + 1..];
        let Some(end) = rest.find(']') else { continue };
        let words = &rest[..end];
        rest = &rest[end + 1..];
        let closes = match rest.chars().next() {
            Some('(') => Some(')'),
            Some('[') => Some(']'),
            _ => None,
        };
        if let Some(place) = closes.and_then(|closes| rest.find(closes)) {
            rest = &rest[place + 1..];
        }
        if !is_picture {
            plain.push_str(words);
        }
    }
    plain + rest
}

fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((at, _)) => {
            let end = text[..at].rfind(' ').unwrap_or(at);
            format!("{}…", text[..end].trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_paragraph_is_prose_and_nothing_else() {
        let long = "word ".repeat(200);
        let cases = [
            (
                "# Sea\n\nSea grows pearls in the deep of the night, layer by layer.\n\nMore.",
                "Sea grows pearls in the deep of the night, layer by layer.",
            ),
            (
                "======\nSea\n======\n\nSea is a library that grows pearls for\neverybody who asks.\n",
                "Sea is a library that grows pearls for everybody who asks.",
            ),
            (
                "[![b](x)](y)\n[![c](x)](y)\n\n[a](b) | [c](d)\n\n## Why\n\nThe goal is the [easiest](x) way to grow **pearls** by `layers`.\n",
                "The goal is the easiest way to grow pearls by layers.",
            ),
            (
                "<p align=\"center\">\n<img src=\"a\">\n</p>\n\n# S\n\n> Next generation pearls\n\n- fast\n\nSea (French: mer) is a new breed of pearl that shines a lot.\n",
                "Sea (French: mer) is a new breed of pearl that shines a lot.",
            ),
            ("# Sea\n\n> Next generation pearls\n", "Next generation pearls"),
            (
                "# Sea\n\nSea is a library that grows pearls for everybody:\n```\nsea\n```\nMore.\n",
                "Sea is a library that grows pearls for everybody:",
            ),
            (
                "Sea\n---\nIt grows pearls for everybody who asks it.\n",
                "It grows pearls for everybody who asks it.",
            ),
            ("```\ncargo build this and that and much more of it\n```\n", ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(first_paragraph(text).unwrap_or_default(), expected, "{text}");
        }
        assert!(first_paragraph(&long).unwrap().len() <= MAX_CHARS + 3);
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(?s)([<>\\[\\]()!#=`a-z \n]|.){0,200}") {
            let told = first_paragraph(&text).unwrap_or_default();
            prop_assert!(told.chars().count() <= MAX_CHARS + 1);
        }
    }
}

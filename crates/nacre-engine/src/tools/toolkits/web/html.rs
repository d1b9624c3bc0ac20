//! Converts HTML to text for a model. Markup and scripts are removed; links are kept.
//!
//! The conversion is a single pass that builds no tree, and its time is linear in the length of the
//! page.

use nacre_base::text::collapse_whitespace;
use reqwest::Url;

const SKIPPED: &[&str] =
    &["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select"];

const PARAGRAPHS: &[&str] =
    &["p", "ul", "ol", "dl", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"];

#[rustfmt::skip]
const BLOCKS: &[&str] = &[
    "div", "section", "article", "header", "footer", "main", "nav", "aside", "li", "tr", "dt",
    "dd", "figure", "figcaption", "form", "hr", "br", "details", "summary", "address", "fieldset",
];

#[rustfmt::skip]
const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("nbsp", " "),
    ("ndash", "–"), ("mdash", "—"), ("hellip", "…"), ("laquo", "«"), ("raquo", "»"),
    ("lsquo", "‘"), ("rsquo", "’"), ("ldquo", "“"), ("rdquo", "”"), ("bull", "•"), ("middot", "·"),
    ("copy", "©"), ("reg", "®"), ("trade", "™"), ("times", "×"), ("rarr", "→"), ("larr", "←"),
    ("eacute", "é"), ("egrave", "è"), ("agrave", "à"), ("auml", "ä"), ("ouml", "ö"), ("uuml", "ü"),
    ("Auml", "Ä"), ("Ouml", "Ö"), ("Uuml", "Ü"), ("szlig", "ß"), ("ccedil", "ç"), ("ntilde", "ñ"),
    ("euro", "€"), ("pound", "£"),
];

/// Returns the title and the text of the page. Links are resolved against `base`.
pub(super) fn text_of(html: &str, base: &Url) -> (Option<String>, String) {
    let (out, title) = (String::new(), String::new());
    let mut writer = Writer { base, out, title, in_title: false, n_pre: 0, link: None };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        writer.words(&rest[..at]);
        rest = writer.tag(&rest[at..]);
    }
    writer.words(rest);
    let title = collapse_whitespace(&decode(&writer.title));
    ((!title.is_empty()).then_some(title), tidy(&writer.out))
}

struct Writer<'a> {
    base: &'a Url,
    out: String,
    title: String,
    in_title: bool,
    n_pre: usize,
    link: Option<String>,
}

impl Writer<'_> {
    fn words(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.n_pre != 0 {
            self.out.push_str(&decode(text));
        } else {
            let decoded = decode(text);
            let has_gap = |c: Option<char>| c.is_some_and(char::is_whitespace);
            if has_gap(decoded.chars().next()) {
                self.gap();
            }
            self.out.push_str(&collapse_whitespace(&decoded));
            if has_gap(decoded.chars().next_back()) {
                self.gap();
            }
        }
    }

    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn empty_line(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn tag<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(comment) = text.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |at| &comment[at + 3..]);
        }
        let is_tag = text[1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        if !is_tag {
            self.out.push('<');
            return &text[1..];
        }
        let Some(end) = tag_end(text) else { return "" };
        let (inner, rest) = (&text[1..end], &text[end + 1..]);
        let is_end = inner.starts_with('/');
        let inner = inner.trim_start_matches('/');
        let n_name = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
        let name = inner[..n_name].to_ascii_lowercase();
        if !is_end && SKIPPED.contains(&name.as_str()) && !inner.ends_with('/') {
            return after_element(rest, &name);
        }
        self.element(&name, inner, is_end);
        rest
    }

    fn element(&mut self, name: &str, inner: &str, is_end: bool) {
        if PARAGRAPHS.contains(&name) {
            self.empty_line();
        } else if BLOCKS.contains(&name) {
            self.line();
        }
        match (name, is_end) {
            ("title", _) => self.in_title = !is_end,
            ("pre", false) => self.n_pre += 1,
            ("pre", true) => self.n_pre = self.n_pre.saturating_sub(1),
            ("li", false) => self.out.push_str("- "),
            ("td" | "th", true) => self.out.push_str(" | "),
            ("a", false) => {
                self.link = attribute(inner, "href").and_then(|href| self.whole(&href));
            }
            ("a", true) => {
                if let Some(link) = self.link.take() {
                    self.out.push_str(&format!(" <{link}>"));
                }
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.out.push_str(&"#".repeat(level));
                self.out.push(' ');
            }
            _ => {}
        }
    }

    /// Resolves a link. Returns `None` if the link points to the same page.
    fn whole(&self, href: &str) -> Option<String> {
        let url = self.base.join(&decode(href)).ok()?;
        let is_page = matches!(url.scheme(), "http" | "https") && !href.starts_with('#');
        is_page.then(|| url.to_string())
    }
}

fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) if text[..at].ends_with('=') => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    // An unclosed quote is an error in the page and must not swallow the remaining text.
    text.find('>')
}

fn after_element<'t>(text: &'t str, name: &str) -> &'t str {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let start = from + at + 2;
        let is_it = text.as_bytes()[start..]
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        if is_it {
            return text[start..].find('>').map_or("", |end| &text[start + end + 1..]);
        }
        from = start;
    }
    ""
}

fn attribute(inner: &str, name: &str) -> Option<String> {
    let lower = inner.to_ascii_lowercase();
    let at = lower.find(&format!("{name}="))? + name.len() + 1;
    let value = &inner[at..];
    let quoted = |quote: char| value.strip_prefix(quote)?.split(quote).next();
    let plain = || value.split(|c: char| c.is_whitespace() || c == '>').next();
    quoted('"').or_else(|| quoted('\'')).or_else(plain).map(str::to_owned)
}

fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let end = tail.bytes().take(10).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, character(&tail[..end])?))) {
            Some((end, found)) => {
                out.push_str(&found);
                rest = &tail[end + 1..];
            }
            None => {
                out.push('&');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).map(String::from);
    }
    ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(html: &str) -> (Option<String>, String) {
        text_of(html, &Url::parse("https://example.com/docs/").expect("an address"))
    }

    #[test]
    fn a_page_becomes_what_a_reader_sees() {
        let (title, text) = text(
            "<!doctype html><html><head><title>The &amp; page</title><style>p{}</style></head>
            <body><!-- <p>hidden</p> --><h1>Head</h1><p>One <b>two</b>
            three&nbsp;4 &lt;5.</p><script>if (a < b) { '</p>' }</script>
            <ul><li>a</li><li><a href='../x?y=1&amp;z=2'>b</a></li></ul><pre>  x
  y</pre><table><tr><td>1</td><td>2</td></tr></table><a href=#top>top</a> <a href=javascript:x>js</a></body>",
        );
        assert_eq!(title.as_deref(), Some("The & page"));
        insta::assert_snapshot!(text, @r"
        # Head

        One two three 4 <5.

        - a
        - b <https://example.com/x?y=1&z=2>

          x
          y

        1 | 2 |

        top js
        ");
    }

    #[test]
    fn broken_markup_loses_no_words_before_it() {
        for (html, expected) in [
            ("a < b", "a < b"),
            ("before <p", "before"),
            ("before <!-- never ended", "before"),
            ("before <script> never ended", "before"),
            ("x <a title=\"1 > 0\">y</a> z", "x y z"),
            ("x <p title=\"never ended>y</p>", "x\n\ny"),
            ("&unknown; &#x41;&#66; &#xD800; &", "&unknown; AB &#xD800; &"),
        ] {
            assert_eq!(text(html).1, expected, "{html}");
        }
    }

    proptest! {
        #[test]
        fn no_page_breaks_the_reader(html in "(<|>|/|!|-|&|;|#|a|p|script|pre|title|li|h1| |\"|'|=|href|é|\n){0,80}") {
            let (_, text) = text(&html);
            prop_assert!(text.len() <= html.len() * 40 + 100);
        }
    }
}

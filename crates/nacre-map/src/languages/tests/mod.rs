//! Tests the outline of one small file per language.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

mod analyses;
mod hashes;
mod hostile;
#[cfg(feature = "more-languages")]
mod rarer;

use super::*;

fn check(path: &str, text: &str) -> String {
    let language = Language::of_path(path).unwrap();
    let mut shown = String::new();
    for symbol in outline(text, language).unwrap() {
        let Symbol { kind, name, signature, first_line, last_line, depth } = symbol;
        let indent = "  ".repeat(depth);
        writeln!(shown, "{indent}{} {name} {first_line}-{last_line}: {signature}", kind.as_str())
            .unwrap();
    }
    shown
}

#[test]
fn rust_is_outlined() {
    let text = "\
//! Pearls.
mod deep {
    pub(crate) const N: usize = 3;
}

#[derive(Debug)]
pub struct Pearl<T> {
    layers: Vec<T>,
}

impl<T> Pearl<T> {
    pub fn new() -> Self {
        fn inner() {}
        todo!()
    }
}

impl<T> Default for Pearl<T> {
    fn default() -> Self { Self::new() }
}

trait Grow { fn grow(&mut self); }

macro_rules! shell { () => {} }
";
    insta::assert_snapshot!(check("a.rs", text), @r"
    module deep 2-4: mod deep
      constant N 3-3: pub(crate) const N: usize = 3;
    struct Pearl 7-9: pub struct Pearl<T>
    implementation Pearl<T> 11-16: impl<T> Pearl<T>
      method new 12-15: pub fn new() -> Self
    implementation Default for Pearl<T> 18-20: impl<T> Default for Pearl<T>
      method default 19-19: fn default() -> Self { Self::new() }
    interface Grow 22-22: trait Grow { fn grow(&mut self); }
      method grow 22-22: trait Grow { fn grow(&mut self); }
    macro shell 24-24: macro_rules! shell { () => {} }
    ");
}

#[test]
fn python_is_outlined() {
    let text = "\
class Pearl(Shell):
    @property
    def layers(self):
        def inner(): pass
        return 1

@cache
async def grow(n: int) -> Pearl:
    return Pearl()
";
    insta::assert_snapshot!(check("a.py", text), @r"
    class Pearl 1-5: class Pearl(Shell):
      method layers 3-5: def layers(self):
    function grow 8-9: async def grow(n: int) -> Pearl:
    ");
}

#[test]
fn typescript_is_outlined() {
    let text = "\
export interface Shell { open(): void }
export default class Pearl implements Shell {
  private grow = () => { return 1 };
  open(): void {}
}
export const polish = async (pearl: Pearl) => pearl;
const size = 3;
export type Size = number;
enum Color { White }
namespace Sea { export function dive() {} }
function* tide() {}
";
    insta::assert_snapshot!(check("a.ts", text), @r"
    interface Shell 1-1: export interface Shell { open(): void }
      method open 1-1: export interface Shell { open(): void }
    class Pearl 2-5: export default class Pearl implements Shell
      method grow 3-3: private grow = () => { return 1 };
      method open 4-4: open(): void {}
    function polish 6-6: export const polish = async (pearl: Pearl) => pearl;
    type Size 8-8: export type Size = number;
    enum Color 9-9: enum Color { White }
    module Sea 10-10: namespace Sea { export function dive() {} }
      function dive 10-10: namespace Sea { export function dive() {} }
    function tide 11-11: function* tide() {}
    ");
    let jsx = "export const View = () => <div>{open()}</div>;\nclass A { b() {} }\n";
    insta::assert_snapshot!(check("a.tsx", jsx), @r"
    function View 1-1: export const View = () => <div>{open()}</div>;
    class A 2-2: class A { b() {} }
      method b 2-2: class A { b() {} }
    ");
    insta::assert_snapshot!(check("a.jsx", jsx), @r"
    function View 1-1: export const View = () => <div>{open()}</div>;
    class A 2-2: class A { b() {} }
      method b 2-2: class A { b() {} }
    ");
}

#[test]
fn go_and_java_are_outlined() {
    let go = "\
package sea

type Pearl struct { layers int }
type Grower interface { Grow() }
const Deep = 3

func (p *Pearl) Grow() { p.layers++ }
func New() *Pearl { return nil }
";
    insta::assert_snapshot!(check("a.go", go), @r"
    type Pearl 3-3: type Pearl struct { layers int }
    type Grower 4-4: type Grower interface { Grow() }
    constant Deep 5-5: const Deep = 3
    method Grow 7-7: func (p *Pearl) Grow() { p.layers++ }
    function New 8-8: func New() *Pearl { return nil }
    ");
    let java = "\
package sea;
public class Pearl {
    private final int layers;
    Pearl(int layers) { this.layers = layers; }
    @Override
    public String toString() { return \"pearl\"; }
    enum Color { WHITE }
}
interface Shell { void open(); }
record Point(int x) {}
";
    insta::assert_snapshot!(check("A.java", java), @r#"
    class Pearl 2-8: public class Pearl
      method Pearl 4-4: Pearl(int layers) { this.layers = layers; }
      method toString 5-6: public String toString() { return "pearl"; }
      enum Color 7-7: enum Color { WHITE }
    interface Shell 9-9: interface Shell { void open(); }
      method open 9-9: interface Shell { void open(); }
    class Point 10-10: record Point(int x) {}
    "#);
}

#[test]
fn c_and_cpp_are_outlined() {
    let c = "\
#define DEEP 3
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct pearl { int layers; };
typedef struct pearl pearl_t;
enum color { WHITE };
static char **names(struct pearl *p, int n);
int grow(struct pearl *p)
{
    return p->layers++;
}
struct pearl global;
";
    insta::assert_snapshot!(check("a.c", c), @r"
    macro DEEP 1-1: #define DEEP 3
    macro MAX 2-2: #define MAX(a, b) ((a) > (b) ? (a) : (b))
    struct pearl 3-3: struct pearl { int layers; };
    type pearl_t 4-4: typedef struct pearl pearl_t;
    enum color 5-5: enum color { WHITE };
    function names 6-6: static char **names(struct pearl *p, int n);
    function grow 7-10: int grow(struct pearl *p)
    ");
    let cpp = "\
namespace sea {
template <typename T>
class Pearl : public Shell {
public:
    Pearl();
    int layers() const { return n; }
    virtual void grow(T by);
private:
    int n;
};
void Pearl<int>::grow(int by) {}
int &ref(int &x) { return x; }
}
";
    insta::assert_snapshot!(check("a.cpp", cpp), @r"
    module sea 1-13: namespace sea
      class Pearl 3-10: class Pearl : public Shell
        method Pearl 5-5: Pearl();
        method layers 6-6: int layers() const { return n; }
        method grow 7-7: virtual void grow(T by);
      function Pearl<int>::grow 11-11: void Pearl<int>::grow(int by) {}
      function ref 12-12: int &ref(int &x) { return x; }
    ");
}

#[test]
fn bash_is_outlined() {
    insta::assert_snapshot!(check("a.sh", "#!/bin/sh\nopen_shell() {\n  echo hi\n}\nfunction close { :; }\n"), @r"
    function open_shell 2-4: open_shell()
    function close 5-5: function close { :; }
    ");
}

#[test]
fn the_innermost_symbol_of_a_line_is_found() {
    let text = "mod a {\n    impl B {\n        fn c() {\n        }\n    }\n}\n";
    let symbols = outline(text, Language::Rust).unwrap();
    let name = |line| enclosing(&symbols, line).map(|symbol| symbol.name.as_str());
    assert_eq!(
        [name(1), name(2), name(4), name(5), name(9)],
        [Some("a"), Some("B"), Some("c"), Some("B"), None]
    );
}

#[test]
fn patterns_match_by_structure() {
    let text = "\
fn main() {
    let a = open(1, \"x\").unwrap();
    // open(2).unwrap()
    let b = open(
        3,
    )
    .unwrap();
    close(a);
}
";
    let pattern = CodePattern::new("$CALL.unwrap()", Language::Rust).unwrap();
    let found = pattern.find(text, 10).unwrap();
    let places: Vec<(usize, &str)> =
        found.iter().map(|found| (found.first_line, found.text.as_str())).collect();
    let second = "open(\n        3,\n    )\n    .unwrap()";
    assert_eq!(places, [(2, "open(1, \"x\").unwrap()"), (4, second)]);
    assert_eq!(pattern.find(text, 1).unwrap().len(), 1);
}

#[test]
fn a_pattern_that_is_no_code_is_refused() {
    for (pattern, language) in
        [("", Language::Rust), ("fn (", Language::Rust), ("def :", Language::Python)]
    {
        assert!(CodePattern::new(pattern, language).is_err(), "{pattern}");
    }
}

#[test]
fn deep_and_broken_texts_are_walked_to_their_end() {
    for text in ["(".repeat(20_000), "mod a {".repeat(5_000), "\u{0}\u{feff}fn".repeat(9)] {
        for language in Language::all() {
            let found = outline(&text, language);
            assert!(matches!(found, Ok(_) | Err(ParseError::TooHard { .. })), "{language}");
        }
    }
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    assert!(matches!(outline(&long, Language::Rust), Err(ParseError::TooLarge { .. })));
}

#[test]
fn languages_are_known_by_path_and_name() {
    assert_eq!(Language::of_path("src/main.RS"), Some(Language::Rust));
    assert_eq!(Language::of_path("Makefile"), None);
    assert_eq!("TypeScript".parse(), Ok(Language::TypeScript));
    assert!("cobol".parse::<Language>().is_err());
    for language in Language::all() {
        assert_eq!(language.to_string().parse(), Ok(language));
    }
}

proptest! {
    // One language per case, because error recovery takes milliseconds and cases with all eighteen
    // languages never finished.
    #[test]
    fn no_text_breaks_an_outline(
        language in select(Language::all().collect::<Vec<_>>()),
        text in "(fn |class |def |[{}();:<>=#*&]|[a-z]|\n|\u{1f980}){0,200}",
    ) {
        for symbol in outline(&text, language).unwrap() {
            prop_assert!(symbol.first_line <= symbol.last_line);
        }
    }
}

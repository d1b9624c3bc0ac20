//! Tests the full and the line-by-line analysis on one small file per language.

use std::fmt::Write as _;

use super::super::*;

fn format_analysis(analysis: &Analysis) -> String {
    let mut shown = String::new();
    for Import { text, line, kind } in &analysis.imports {
        writeln!(shown, "{line} {} {text}", format!("{kind:?}").to_lowercase()).unwrap();
    }
    for symbol in &analysis.symbols {
        let who = match symbol.visibility {
            Visibility::Public => "+",
            Visibility::Internal => "~",
            Visibility::Private => "-",
        };
        let SymbolFacts { name, first_line, last_line, signature, .. } = symbol;
        let kind = symbol.kind.as_str();
        writeln!(shown, "{who}{kind} {name} {first_line}-{last_line}: {signature}").unwrap();
    }
    for (is, word) in [(analysis.is_entry, "entry"), (analysis.is_test, "test")] {
        if is {
            writeln!(shown, "{word}").unwrap();
        }
    }
    if let Some(problem) = analysis.problem {
        writeln!(shown, "{problem:?}").unwrap();
    }
    shown
}

pub(super) fn full(path: &str, text: &str) -> String {
    format_analysis(&analyse(Language::of_path(path).unwrap(), text.as_bytes()))
}

pub(super) fn quick(path: &str, text: &str) -> String {
    format_analysis(&glance(Language::of_path(path).unwrap(), text.as_bytes()))
}

const RUST: &str = "\
//! Pearls.
use std::{fmt, io::{self, Read as _}};
pub use crate::shell::*;
mod layers;
#[path = \"odd/place.rs\"]
pub mod placed;

pub(crate) struct Pearl<T> {
    pub layers: Vec<T>, // deep
}

impl<T> Pearl<T> {
    pub fn grow(&mut self, by: usize) -> usize
    where
        T: Clone,
    {
        by
    }
}

impl<T> fmt::Display for Pearl<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }
}

pub const DEEP: usize = 3;
pub const fn deep() -> usize { use self::layers::depth; depth() }

fn main() {}

#[cfg(test)]
mod tests {
    use super::*;
    use super::super::sea;

    #[test]
    fn it_grows() {}
}
";

#[test]
fn rust_is_analysed() {
    insta::assert_snapshot!(full("a.rs", RUST), @"
    2 module std::fmt
    2 module std::io
    2 module std::io::Read
    3 reexport crate::shell
    4 child layers
    6 path odd/place.rs
    26 module self::layers::depth
    32 module self
    33 module super::sea
    -module layers 4-4: mod layers
    +module placed 6-6: pub mod placed
    ~struct Pearl 8-10: pub(crate) struct Pearl<T>
    -implementation Pearl<T> 12-19: impl<T> Pearl<T>
    +method Pearl::grow 13-18: pub fn grow(&mut self, by: usize) -> usize where T: Clone
    -implementation fmt::Display for Pearl<T> 21-23: impl<T> fmt::Display for Pearl<T>
    +method Pearl::fmt 22-22: fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
    +constant DEEP 25-25: pub const DEEP: usize
    +function deep 26-26: pub const fn deep() -> usize
    -function main 28-28: fn main()
    -module tests 31-37: mod tests
    -function tests::it_grows 36-36: fn it_grows()
    entry
    ");
    insta::assert_snapshot!(quick("a.rs", RUST), @"
    2 module std::fmt
    2 module std::io
    2 module std::io::Read
    3 reexport crate::shell
    4 child layers
    6 child placed
    ~struct Pearl 8-8: pub(crate) struct Pearl<T>
    -implementation Pearl<T> 12-12: impl<T> Pearl<T>
    -implementation fmt::Display for Pearl<T> 21-21: impl<T> fmt::Display for Pearl<T>
    +constant DEEP 25-25: pub const DEEP: usize = 3
    +function deep 26-26: pub const fn deep() -> usize
    -function main 28-28: fn main()
    -module tests 31-31: mod tests
    entry
    ");
}

const PYTHON: &str = "\
#!/usr/bin/env python3
import os, sys as system
from . import shell
from ..sea.deep import (
    tide,  # high
    Wave as W,
)
from typing import *

class Pearl(Shell):
    def grow(self, by: int = 1) -> int:
        import json
        return by
    def _polish(self): pass

@cache
async def open_shell(name: str) -> Pearl:
    return Pearl()

if __name__ == \"__main__\":
    main()
";

#[test]
fn python_is_analysed() {
    insta::assert_snapshot!(full("a.py", PYTHON), @"
    2 module os
    2 module sys
    3 module .shell
    4 module ..sea.deep.tide
    4 module ..sea.deep.Wave
    8 module typing
    12 module json
    +class Pearl 10-14: class Pearl(Shell)
    +method Pearl.grow 11-13: def grow(self, by: int = 1) -> int
    -method Pearl._polish 14-14: def _polish(self)
    +function open_shell 16-18: async def open_shell(name: str) -> Pearl
    entry
    ");
    insta::assert_snapshot!(quick("a.py", PYTHON), @"
    2 module os
    2 module sys
    3 module .shell
    4 module ..sea.deep.tide
    4 module ..sea.deep.Wave
    8 module typing
    +class Pearl 10-10: class Pearl(Shell)
    +function open_shell 17-17: async def open_shell(name: str) -> Pearl
    entry
    ");
}

const SCRIPT: &str = "\
import fs, { type Stats } from 'node:fs';
import type { Shell } from \"./shell\";
import \"./polyfill\";
export * from './layers/index.js';
export { deep as depth } from \"@/sea\";
const lazy = () => import('./lazy');
const old = require(\"../old\");

export interface Pearl { grow(by: number): void }
export default class Oyster implements Pearl {
  #hidden() {}
  grow(by: number): void {}
}
export const polish = async (pearl: Pearl): Promise<Pearl> => pearl;
function close(): void {}
function open(): void {}
export { open };
";

#[test]
fn scripts_are_analysed() {
    insta::assert_snapshot!(full("a.ts", SCRIPT), @"
    1 module node:fs
    2 type ./shell
    3 module ./polyfill
    4 reexport ./layers/index.js
    5 reexport @/sea
    6 module ./lazy
    7 module ../old
    -function lazy 6-6: const lazy = ()
    +interface Pearl 9-9: export interface Pearl
    +method Pearl.grow 9-9: grow(by: number): void
    +class Oyster 10-13: export default class Oyster implements Pearl
    -method Oyster.#hidden 11-11: #hidden()
    +method Oyster.grow 12-12: grow(by: number): void
    +function polish 14-14: export const polish = async (pearl: Pearl): Promise<Pearl>
    -function close 15-15: function close(): void
    +function open 16-16: function open(): void
    ");
    insta::assert_snapshot!(quick("a.ts", SCRIPT), @"
    1 module node:fs
    2 type ./shell
    3 module ./polyfill
    4 reexport ./layers/index.js
    5 reexport @/sea
    7 module ../old
    -function lazy 6-6: const lazy = () => import('./lazy')
    +interface Pearl 9-9: export interface Pearl
    +class Oyster 10-10: export default class Oyster implements Pearl
    +function polish 14-14: export const polish = async (pearl: Pearl): Promise<Pearl> => pearl
    -function close 15-15: function close(): void
    -function open 16-16: function open(): void
    ");
    let common = "const a = require('./a');\nfunction b() {}\nfunction c() {}\nmodule.exports = { b, d: 1 };\n";
    insta::assert_snapshot!(full("a.js", common), @"
    1 module ./a
    +function b 2-2: function b()
    -function c 3-3: function c()
    ");
}

const GO: &str = "\
package main

import (
\t\"fmt\"
\tsea \"example.com/sea/deep\" // blue

\t_ \"example.com/sea/driver\"
)
import \"os\"

type Pearl struct { Layers int }
const Deep = 3

func (p *Pearl) Grow(by int) error { return nil }
func (s Set[T]) add(v T) {}
func main() { fmt.Println() }
";

#[test]
fn grouped_imports_of_go_are_all_seen() {
    insta::assert_snapshot!(full("a.go", GO), @"
    4 module fmt
    5 module example.com/sea/deep
    7 module example.com/sea/driver
    9 module os
    +type Pearl 11-11: type Pearl struct
    +constant Deep 12-12: const Deep
    +method Pearl.Grow 14-14: func (p *Pearl) Grow(by int) error
    ~method Set.add 15-15: func (s Set[T]) add(v T)
    ~function main 16-16: func main()
    entry
    ");
    insta::assert_snapshot!(quick("a.go", GO), @"
    4 module fmt
    5 module example.com/sea/deep
    7 module example.com/sea/driver
    9 module os
    +type Pearl 11-11: type Pearl struct
    +constant Deep 12-12: const Deep = 3
    +function Grow 14-14: func (p *Pearl) Grow(by int) error
    ~function add 15-15: func (s Set[T]) add(v T)
    ~function main 16-16: func main()
    entry
    ");
}

const JAVA: &str = "\
package org.sea;

import java.util.List;
import static org.sea.Depth.MAX;
import org.sea.layers.*;

public class Pearl extends Shell {
    private int n;
    public Pearl(int n) { this.n = n; }
    @Override
    protected String name() { return \"pearl\"; }
    public static void main(String[] args) {}
}
interface Grower { void grow(); }
";

#[test]
fn java_is_analysed() {
    insta::assert_snapshot!(full("A.java", JAVA), @"
    3 module java.util.List
    4 module org.sea.Depth.MAX
    5 module org.sea.layers.*
    +class Pearl 7-13: public class Pearl extends Shell
    +method Pearl.Pearl 9-9: public Pearl(int n)
    ~method Pearl.name 10-11: @Override protected String name()
    +method Pearl.main 12-12: public static void main(String[] args)
    ~interface Grower 14-14: interface Grower
    +method Grower.grow 14-14: void grow()
    entry
    ");
    insta::assert_snapshot!(quick("A.java", JAVA), @"
    3 module java.util.List
    4 module org.sea.Depth.MAX
    5 module org.sea.layers.*
    +class Pearl 7-7: public class Pearl extends Shell
    ~interface Grower 14-14: interface Grower
    entry
    ");
}

const C: &str = "\
#include <stdio.h>
# include \"sea/pearl.h\"
#define DEEP 3
typedef struct pearl pearl_t;
struct pearl { int layers; };
static int hidden(void)
{
    return 0;
}
int main(int argc, char **argv) {
    if (argc) return hidden();
    return 0;
}
";

#[test]
fn c_and_cpp_are_analysed() {
    insta::assert_snapshot!(full("a.c", C), @"
    1 system stdio.h
    2 path sea/pearl.h
    +macro DEEP 3-3: #define DEEP
    +type pearl_t 4-4: typedef struct pearl pearl_t
    +struct pearl 5-5: struct pearl
    -function hidden 6-9: static int hidden(void)
    +function main 10-13: int main(int argc, char **argv)
    entry
    ");
    insta::assert_snapshot!(quick("a.c", C), @"
    1 system stdio.h
    2 path sea/pearl.h
    +macro DEEP 3-3: #define DEEP 3
    +type pearl_t 4-4: typedef struct pearl pearl_t
    -function hidden 6-6: static int hidden(void)
    +function main 10-10: int main(int argc, char **argv)
    entry
    ");
    let cpp = "#include \"a.hpp\"\nnamespace sea {\nclass Pearl {\npublic:\n    int grow(int by) { return by; }\n};\n}\nint sea::Pearl::polish() { return 1; }\n";
    insta::assert_snapshot!(full("a.cpp", cpp), @"
    1 path a.hpp
    +module sea 2-7: namespace sea
    +class sea::Pearl 3-6: class Pearl
    +method sea::Pearl::grow 5-5: int grow(int by)
    +function sea::Pearl::polish 8-8: int sea::Pearl::polish()
    ");
}

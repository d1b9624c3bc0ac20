//! Tests the full and the line-by-line analysis for Bash and for languages that a build can omit.

use super::analyses::{full, quick};

fn both(path: &str, text: &str) -> String {
    format!("{}-- at a glance\n{}", full(path, text), quick(path, text))
}

#[test]
fn c_sharp_is_analysed() {
    let text = "\
using System;
using static Sea.Depth;
using P = Sea.Pearls.Pearl;
namespace Sea.Layers
{
    public class Pearl : Shell
    {
        public int Grow(int by) { using (var x = F()) {} return by; }
        private void Hide() {}
    }
    enum Color { White }
}
";
    insta::assert_snapshot!(both("a.cs", text), @"
    1 module System
    2 module Sea.Depth
    3 module Sea.Pearls.Pearl
    ~module Sea.Layers 4-12: namespace Sea.Layers
    +class Sea.Layers.Pearl 6-10: public class Pearl : Shell
    +method Sea.Layers.Pearl.Grow 8-8: public int Grow(int by)
    -method Sea.Layers.Pearl.Hide 9-9: private void Hide()
    ~enum Sea.Layers.Color 11-11: enum Color
    -- at a glance
    1 module System
    2 module Sea.Depth
    3 module Sea.Pearls.Pearl
    ~module Sea.Layers 4-4: namespace Sea.Layers
    +class Pearl 6-6: public class Pearl : Shell
    ~enum Color 11-11: enum Color
    ");
}

#[test]
fn kotlin_is_analysed() {
    let text = "\
package org.sea

import org.sea.layers.Layer
import org.sea.deep.*
import a.B as C

enum class Color { WHITE }
interface Grower { fun grow() }
data class Pearl(val n: Int) : Grower {
    override fun grow() {}
    private fun hide() = 1
}
object Sea
fun main(args: Array<String>) { }
";
    insta::assert_snapshot!(both("a.kt", text), @"
    3 module org.sea.layers.Layer
    4 module org.sea.deep.*
    5 module a.B
    +enum Color 7-7: enum class Color
    +interface Grower 8-8: interface Grower
    +method Grower.grow 8-8: fun grow()
    +class Pearl 9-12: data class Pearl(val n: Int) : Grower
    +method Pearl.grow 10-10: override fun grow()
    -method Pearl.hide 11-11: private fun hide()
    +class Sea 13-13: object Sea
    +function main 14-14: fun main(args: Array<String>)
    entry
    Broken
    -- at a glance
    3 module org.sea.layers.Layer
    4 module org.sea.deep.*
    5 module a.B
    +class Color 7-7: enum class Color
    +interface Grower 8-8: interface Grower
    +class Pearl 9-9: data class Pearl(val n: Int) : Grower
    +class Sea 13-13: object Sea
    +function main 14-14: fun main(args: Array<String>)
    entry
    ");
}

#[test]
fn swift_is_analysed() {
    let text = "\
import Foundation
@testable import Sea

public struct Pearl: Grower {
    public init(n: Int) {}
    func grow(by n: Int) -> Int { return n }
}
extension Pearl { private func hide() {} }
protocol Grower { func grow(by n: Int) -> Int }
enum Color { case white }
func open() {}
";
    insta::assert_snapshot!(both("a.swift", text), @"
    1 module Foundation
    2 module Sea
    +struct Pearl 4-7: public struct Pearl: Grower
    +method Pearl.init 5-5: public init(n: Int)
    ~method Pearl.grow 6-6: func grow(by n: Int) -> Int
    ~implementation Pearl 8-8: extension Pearl
    -method Pearl.hide 8-8: private func hide()
    ~interface Grower 9-9: protocol Grower
    +method Grower.grow 9-9: func grow(by n: Int) -> Int
    ~enum Color 10-10: enum Color
    ~function open 11-11: func open()
    -- at a glance
    1 module Foundation
    2 module Sea
    +struct Pearl 4-4: public struct Pearl: Grower
    ~implementation Pearl 8-8: extension Pearl
    ~interface Grower 9-9: protocol Grower
    ~enum Color 10-10: enum Color
    ~function open 11-11: func open()
    ");
}

#[test]
fn scala_is_analysed() {
    let text = "\
package org.sea

import org.sea.layers.{Layer, Deep => D, _}
import a.B

trait Grower { def grow(by: Int): Int }
case class Pearl(n: Int) extends Grower {
  def grow(by: Int): Int = by
  private def hide = 1
}
object Sea extends App
";
    insta::assert_snapshot!(both("a.scala", text), @"
    3 module org.sea.layers.Layer
    3 module org.sea.layers.Deep
    3 module org.sea.layers
    4 module a.B
    +interface Grower 6-6: trait Grower
    +method Grower.grow 6-6: def grow(by: Int): Int
    +class Pearl 7-10: case class Pearl(n: Int) extends Grower
    +method Pearl.grow 8-8: def grow(by: Int): Int
    -method Pearl.hide 9-9: private def hide
    +class Sea 11-11: object Sea extends App
    entry
    -- at a glance
    3 module org.sea.layers.Layer
    3 module org.sea.layers.Deep
    3 module org.sea.layers
    4 module a.B
    +interface Grower 6-6: trait Grower
    +class Pearl 7-7: case class Pearl(n: Int) extends Grower
    +class Sea 11-11: object Sea extends App
    entry
    ");
}

#[test]
fn ruby_is_analysed() {
    let text = "\
require 'json'
require_relative \"../lib/sea\"
module Sea
  class Pearl < Shell
    def grow(by = 1)
      by
    end
    def self.open; end
  end
end
";
    insta::assert_snapshot!(both("a.rb", text), @"
    1 module json
    2 path ../lib/sea
    +module Sea 3-10: module Sea
    +class Sea::Pearl 4-9: class Pearl < Shell
    +method Sea::Pearl::grow 5-7: def grow(by = 1)
    +method Sea::Pearl::open 8-8: def self.open; end
    -- at a glance
    1 module json
    2 path ../lib/sea
    +module Sea 3-3: module Sea
    +class Pearl 4-4: class Pearl < Shell
    +function grow 5-5: def grow(by = 1)
    +function open 8-8: def self.open; end
    ");
}

#[test]
fn php_is_analysed() {
    let text = "\
<?php
namespace Sea\\Layers;

use Sea\\Shell;
use Sea\\{Deep, Wave as W};
require_once __DIR__ . '/boot.php';

final class Pearl extends Shell implements Grower
{
    const DEEP = 3;
    public function grow(int $by): int { return $by; }
    private function hide() {}
}
function open_shell() {}
";
    insta::assert_snapshot!(both("a.php", text), @r"
    4 module Sea\Shell
    5 module Sea\Deep
    5 module Sea\Wave
    6 path boot.php
    +module Sea\Layers 2-2: namespace Sea\Layers
    +class Pearl 8-13: final class Pearl extends Shell implements Grower
    +constant Pearl::DEEP 10-10: DEEP = 3
    +method Pearl::grow 11-11: public function grow(int $by): int
    -method Pearl::hide 12-12: private function hide()
    +function open_shell 14-14: function open_shell()
    -- at a glance
    4 module Sea\Shell
    5 module Sea\Deep
    5 module Sea\Wave
    6 path boot.php
    +module Sea\Layers 2-2: namespace Sea\Layers
    +class Pearl 8-8: final class Pearl extends Shell implements Grower
    +function grow 11-11: public function grow(int $by): int
    -function hide 12-12: private function hide()
    +function open_shell 14-14: function open_shell()
    ");
}

#[test]
fn lua_is_analysed() {
    let text = "\
local sea = require(\"lib.sea\")
local deep = require 'deep'
local M = {}
function M.grow(by) return by end
function M:polish() end
local function hide() end
M.open = function(x) return x end
return M
";
    insta::assert_snapshot!(both("a.lua", text), @"
    1 module lib.sea
    2 module deep
    +function M.grow 4-4: function M.grow(by)
    +function M:polish 5-5: function M:polish() end
    -function hide 6-6: local function hide() end
    +function M.open 7-7: M.open = function(x)
    -- at a glance
    1 module lib.sea
    2 module deep
    +function M.grow 4-4: function M.grow(by) return by end
    +function M:polish 5-5: function M:polish() end
    -function hide 6-6: local function hide() end
    ");
}

#[test]
fn elixir_is_analysed() {
    let text = "\
defmodule Sea.Pearl do
  use GenServer, restart: :temporary
  alias Sea.{Shell, Layer}
  import Sea.Deep, only: [dive: 1]

  @doc \"x\"
  def grow(pearl, by) when by > 0 do
    {pearl, by}
  end
  defp hide, do: 1
  defmacro open(x), do: x
end
";
    insta::assert_snapshot!(both("a.ex", text), @"
    2 module GenServer
    3 module Sea.Shell
    3 module Sea.Layer
    4 module Sea.Deep
    +module Sea.Pearl 1-12: defmodule Sea.Pearl
    +function Sea.Pearl.grow 7-9: def grow(pearl, by) when by > 0
    -function Sea.Pearl.hide 10-10: defp hide, do: 1
    +macro Sea.Pearl.open 11-11: defmacro open(x), do: x
    -- at a glance
    2 module GenServer
    3 module Sea.Shell
    3 module Sea.Layer
    4 module Sea.Deep
    +module Sea.Pearl 1-1: defmodule Sea.Pearl do
    +function grow 7-7: def grow(pearl, by) when by > 0 do
    -function hide 10-10: defp hide, do: 1
    +macro open 11-11: defmacro open(x), do: x
    ");
}

#[test]
fn bash_is_analysed() {
    let text = "\
#!/bin/bash
source lib/sea.sh
. \"$(dirname \"$0\")/deep.sh\"
grow() {
  echo 1
}
function open_shell { :; }
";
    insta::assert_snapshot!(both("a.sh", text), @"
    2 path lib/sea.sh
    3 path deep.sh
    +function grow 4-6: grow()
    +function open_shell 7-7: function open_shell
    entry
    -- at a glance
    2 path lib/sea.sh
    3 path deep.sh
    +function grow 4-4: grow()
    +function open_shell 7-7: function open_shell
    entry
    ");
}

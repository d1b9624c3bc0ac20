// The parser of server-sent events.

import assert from "node:assert/strict";
import { test } from "node:test";

import { NacreError } from "../src/errors.js";
import { Backoff, Parser } from "../src/sse.js";

const TEXT = ': listening\n\nid: a-1\ndata: {"n":1}\n\nid: a-2\ndata: {"n":\ndata: 2}\n\n';

function parse(text: string, size = text.length): unknown[] {
  const parser = new Parser();
  const bytes = Buffer.from(text);
  const events = [];
  for (let start = 0; start < bytes.length; start += size) events.push(...parser.feed(bytes.subarray(start, start + size)));
  return events;
}

test("the size of the chunks does not matter", () => {
  for (let size = 1; size <= TEXT.length; size += 1) assert.deepEqual(parse(TEXT, size), [{ n: 1 }, { n: 2 }]);
});

test("lines end in three ways", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    // A carriage return may be half of a line ending, depending on the next byte.
    assert.deepEqual(parse(`${TEXT.replaceAll("\n", end)}:`, 1), [{ n: 1 }, { n: 2 }]);
  }
});

test("other line breaks are part of the text, and a character may be cut in two", () => {
  const value = { text: "a\u2028b\u0085c é€😀" };
  assert.deepEqual(parse(`data: ${JSON.stringify(value)}\n\n`, 1), [value]);
});

test("the id counts when its event is whole", () => {
  const parser = new Parser("a-0");
  assert.deepEqual(parser.feed(Buffer.from('id: a-1\ndata: {}\n\nid: a-2\ndata: {"half":')), [{}]);
  assert.equal(parser.lastId, "a-1");
  parser.cut();
  assert.deepEqual(parser.feed(Buffer.from('id: a-2\ndata: {"whole":true}\n\n')), [{ whole: true }]);
  assert.equal(parser.lastId, "a-2");
});

test("comments, other fields and broken JSON are left out", () => {
  assert.deepEqual(parse(":\n\nevent: x\ndata: {not json}\n\nunknown\n\ndata: 1\n\n"), [1]);
});

test("delays grow to a bound and end", () => {
  const backoff = new Backoff(1000, 20);
  const lost = new NacreError("disconnected", "lost");
  const delays = Array.from({ length: 20 }, () => backoff.next(lost, 0));
  assert.ok((delays[0] ?? 0) >= 500 && (delays[0] ?? 0) <= 1000);
  assert.ok(Math.max(...delays) <= 10_000);
  assert.throws(() => backoff.next(lost, 0), lost);
  backoff.reset();
  assert.equal(backoff.next(lost, 30_000), 30_000);
});

test("what comes again is not tried again", () => {
  const refused = new NacreError("refused", "no", { status: 401 });
  assert.throws(() => new Backoff(0, 5).next(refused, 0), refused);
  const full = new NacreError("busy", "full", { status: 503, retryAfter: 2 });
  assert.equal(new Backoff(0, 5).next(full, 0), 2000);
});

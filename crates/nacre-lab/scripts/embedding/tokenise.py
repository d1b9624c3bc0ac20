"""Reference tokeniser and reader of Nacre's built-in embedding; the contract the Rust reader follows.

Everything is decided character by character, so that no Unicode normalisation library is needed.
"""
import json
import struct
import sys
import unicodedata

import numpy as np
import regex

try:
    from xxhash import xxh3_64_intdigest
except ImportError:  # some machines lack it; the trailer stays zero until seal.py runs
    def xxh3_64_intdigest(_data):
        return 0


MAGIC = b"NACREMB1"
MAX_WORDS = 512
MAX_WORD_BYTES = 64
WORD_CHAR = regex.compile(r"[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]")
SPACE = regex.compile(r"\p{White_Space}")
UPPER = regex.compile(r"\p{Uppercase}")
DIGIT = regex.compile(r"[0-9]")
ASCII_RUN = regex.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
ASCII_CONTROL = regex.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
# Lower-case letters whose canonical decomposition starts with an ASCII letter, within these blocks only.
ACCENT_BLOCKS = ((0x00C0, 0x024F), (0x1E00, 0x1EFF))


def accent_table():
    """Letter with accents -> its ASCII letter."""
    table = {}
    for low, high in ACCENT_BLOCKS:
        for code in range(low, high + 1):
            char = chr(code)
            base = unicodedata.normalize("NFD", char)[0]
            if base != char and "a" <= base <= "z":
                table[char] = base
    return table


ACCENTS = accent_table()


def is_dropped(char):
    """Characters that vanish without ending a word: controls, combining accents, zero-width and soft hyphen."""
    code = ord(char)
    if 0x300 <= code <= 0x36F or code in (0xAD, 0xFEFF) or 0x200B <= code <= 0x200F:
        return True
    return (code < 0x20 or 0x7F <= code < 0xA0) and not SPACE.match(char)


def is_cjk(char):
    code = ord(char)
    return any(low <= code <= high for low, high in CJK)


def fold(chunk):
    """Lower-case by character, combining accents dropped, accented Latin letters to ASCII."""
    out = []
    for char in chunk:
        for low in char.lower():
            if not 0x300 <= ord(low) <= 0x36F:
                out.append(ACCENTS.get(low, low))
    return "".join(out)


def cut(word):
    """At most MAX_WORD_BYTES bytes, whole characters only."""
    raw = word.encode("utf-8")
    if len(raw) <= MAX_WORD_BYTES:
        return word
    return raw[:MAX_WORD_BYTES].decode("utf-8", "ignore")


def chunks(text):
    """Maximal runs of letters and digits; every CJK character and every other visible character alone."""
    if text.isascii() and not ASCII_CONTROL.search(text):
        yield from ASCII_RUN.findall(text)
        return
    run = []
    for char in text:
        if is_dropped(char):
            continue
        word_char = WORD_CHAR.match(char) and not is_cjk(char)
        if word_char:
            run.append(char)
            continue
        if run:
            yield "".join(run)
            run = []
        if not SPACE.match(char):
            yield char
    if run:
        yield "".join(run)


def parts(chunk):
    """Identifier parts: aB | ABc -> A Bc | letter-digit and digit-letter boundaries (ASCII digits)."""
    out, start = [], 0
    upper = [bool(UPPER.match(c)) for c in chunk]
    digit = [bool(DIGIT.match(c)) for c in chunk]
    for i in range(1, len(chunk)):
        camel = upper[i] and not upper[i - 1]
        acronym = upper[i] and upper[i - 1] and i + 1 < len(chunk) and not upper[i + 1] and not digit[i + 1]
        if camel or acronym or digit[i] != digit[i - 1]:
            out.append(chunk[start:i])
            start = i
    out.append(chunk[start:])
    return out


class Tokeniser:
    """Words and pieces over a vocabulary given as a list of tokens (index 0 is the unknown token)."""

    def __init__(self, vocab):
        self.vocab = vocab
        self.index = {token: i for i, token in enumerate(vocab)}
        self.cache = {}

    def pieces(self, word):
        """Whole word if known, else greedy longest match with `##` continuations, else nothing."""
        if word in self.index:
            return [self.index[word]]
        out, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start:
                token = ("##" if start else "") + word[start:end]
                if token in self.index:
                    out.append(self.index[token])
                    break
                end -= 1
            if end == start:
                return []
            start = end
        return out

    def chunk(self, chunk):
        """List of words' piece lists of one chunk: the whole chunk when known, else its identifier parts."""
        known = self.cache.get(chunk)
        if known is None:
            whole = cut(fold(chunk))
            if whole in self.index:
                known = [[self.index[whole]]]
            else:
                known = [self.pieces(cut(fold(part))) for part in parts(chunk)]
            if len(self.cache) < 2_000_000:
                self.cache[chunk] = known
        return known

    def ids(self, text, max_words=MAX_WORDS):
        out, words = [], 0
        for chunk in chunks(text):
            for word in self.chunk(chunk):
                if words == max_words:
                    return out
                words += 1
                out.extend(word)
        return out


class Embedding:
    """Reader of the binary file."""

    def __init__(self, path):
        raw = open(path, "rb").read()
        assert raw[:8] == MAGIC and struct.unpack("<Q", raw[-8:])[0] == xxh3_64_intdigest(raw[:-8])
        self.dims, count, slots, vocab_bytes, self.unk, _flags, _ = struct.unpack("<6IQ", raw[8:40])
        at = 40
        offsets = np.frombuffer(raw, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self.slots = np.frombuffer(raw, "<u4", slots, at)
        at += 4 * slots
        self.scales = np.frombuffer(raw, "<f4", count, at)
        at += 4 * count
        words = raw[at : at + vocab_bytes]
        at += vocab_bytes
        self.rows = np.frombuffer(raw, "i1", count * self.dims, at).reshape(count, self.dims)
        assert at + count * self.dims + 8 == len(raw)
        self.tokeniser = Tokeniser([words[offsets[i] : offsets[i + 1]].decode() for i in range(count)])

    def embed(self, text):
        ids = self.tokeniser.ids(text)
        if not ids:
            return np.zeros(self.dims, np.float32)
        total = (self.rows[ids].astype(np.float32) * self.scales[ids][:, None]).sum(0)
        norm = np.sqrt((total * total).sum())
        return total / norm if norm > 0 else total


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def write(path, vocab, vectors):
    """Write the file: `vectors` are the f32 rows with the token weights already in them; row 0 is unknown."""
    count, dims = vectors.shape
    slots = 1
    while slots < 1.5 * count:
        slots *= 2
    peak = np.abs(vectors).max(1)
    scales = (peak / 127).astype("<f4")
    rows = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None]).clip(-127, 127).astype("i1")
    encoded = [token.encode() for token in vocab]
    offsets = np.zeros(count + 1, "<u4")
    offsets[1:] = np.cumsum([len(e) for e in encoded])
    table = np.zeros(slots, "<u4")
    for i, token in enumerate(encoded):
        slot = fnv1a(token) & (slots - 1)
        while table[slot]:
            slot = (slot + 1) & (slots - 1)
        table[slot] = i + 1
    words = b"".join(encoded)
    raw = MAGIC + struct.pack("<6IQ", dims, count, slots, len(words), 0, 0, 0)
    raw += offsets.tobytes() + table.tobytes() + scales.tobytes() + words + rows.tobytes()
    raw += struct.pack("<Q", xxh3_64_intdigest(raw))
    assert len(raw) <= 12_000_000, len(raw)
    open(path, "wb").write(raw)
    return len(raw)


def main():
    model = Embedding(sys.argv[1])
    for text in sys.argv[2:]:
        ids = model.tokeniser.ids(text)
        print(json.dumps({"text": text, "tokens": [model.tokeniser.vocab[i] for i in ids]}), model.embed(text)[:8])


if __name__ == "__main__":
    main()

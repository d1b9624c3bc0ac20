#!/usr/bin/env python3
"""Makes thesaurus.bin from embedding.bin: for every common word the words nearest in meaning.

Usage: thesaurus.py EMBEDDING OUT     (needs numpy and snowballstemmer)
"""
import struct
import sys

import numpy as np
import snowballstemmer

MAX_NEAR, MIN_COSINE = 8, 0.5


def read(path):
    """The whole words of the embedding and their directions."""
    data = open(path, "rb").read()
    assert data[:8] == b"NACREMB1"
    dims, n, slots, text_bytes, _, _ = struct.unpack_from("<6I", data, 8)
    at = 40
    starts = np.frombuffer(data, "<u4", n + 1, at)
    at += 4 * (n + 1) + 4 * slots + 4 * n
    text = data[at:at + text_bytes]
    rows = np.frombuffer(data, np.int8, n * dims, at + text_bytes).reshape(n, dims).astype(np.float32)
    words = [text[starts[i]:starts[i + 1]].decode() for i in range(n)]
    kept = [i for i, word in enumerate(words) if len(word) > 2 and word.isascii() and word.isalpha()]
    kept.sort(key=lambda i: words[i])
    kept = kept[:65535]
    rows = rows[kept]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return [words[i] for i in kept], rows / np.maximum(norms, 1e-9)


def nearest(words, rows):
    """For every word up to MAX_NEAR others with another stem."""
    stem = snowballstemmer.stemmer("english").stemWord
    stems = [stem(word) for word in words]
    for first in range(0, len(words), 512):
        cosines = rows[first:first + 512] @ rows.T
        for offset, row in enumerate(cosines):
            own, found, seen = first + offset, [], {stems[first + offset]}
            for idx in np.argsort(-row)[:4 * MAX_NEAR]:
                if row[idx] < MIN_COSINE or len(found) == MAX_NEAR:
                    break
                if idx != own and stems[idx] not in seen:
                    seen.add(stems[idx])
                    found.append((int(idx), min(255, round(float(row[idx]) * 255))))
            yield found


def main():
    words, rows = read(sys.argv[1])
    word_starts, entry_starts, entries, text = [0], [0], bytearray(), bytearray()
    for word, found in zip(words, nearest(words, rows)):
        text += word.encode()
        word_starts.append(len(text))
        for idx, nearness in found:
            entries += struct.pack("<HB", idx, nearness)
        entry_starts.append(len(entries) // 3)
    with open(sys.argv[2], "wb") as out:
        out.write(b"NACRETHS" + struct.pack("<4I", len(words), len(entries) // 3, len(text), 0))
        out.write(struct.pack(f"<{len(word_starts)}I", *word_starts))
        out.write(struct.pack(f"<{len(entry_starts)}I", *entry_starts))
        out.write(entries + text)
    print(f"{len(words)} words, {len(entries) // 3} entries")


main()

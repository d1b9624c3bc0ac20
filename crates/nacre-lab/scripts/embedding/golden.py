"""Write golden.json: texts with their tokens and the first dimensions of their vectors, for the reader's test."""
import json
import sys

from tokenise import ACCENTS, Embedding

TEXTS = [
    "", " ", "\t\n\r", "hello", "Hello, World!", "What web framework does the project use?",
    "We decided to keep SQLite because one file is easier to back up.",
    "getUserById", "HTTPServerError", "parse_http_response_v2", "kebab-case-name --dry-run", "XMLHttpRequest2",
    "utf8 base64 sha256 x86_64 i18n", "std::collections::HashMap<String, Vec<u8>>", "fn main() { println!(\"{}\", 1 + 1); }",
    "crates/nacre-core/src/lib.rs:42", "https://example.org/a/b?q=1&r=%20", "rg -n 'foo|bar' --glob '!*.lock'",
    "naïve café Ünïcödé Ångström", "naïve combining", "ÇA VA? ÉTÉ İstanbul", "straße Ærøskøbing Łódź",
    "Привет, мир", "Ελληνικά ΣΟΦΟΣ", "日本語のテキスト", "中文 mixed with English", "한국어 텍스트", "עברית العربية",
    "emoji 😀👩‍💻 and symbols € → ≤ ©", "zero\u200bwidth soft\u00adhyphen \ufeffbom", "nul\u0000bell\u0007esc\u001b[31mred",
    "non\u00a0breaking\u2003spaces\u2028line", "½ ² Ⅷ ① ٣", "a" * 200, "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "zzzzqqqqxxxx \U0001d54f\U000e0001", "snake_case_with__double and trailing_", "I went hiking with Melanie last Saturday; it was amazing.",
    "12345678901234567890 3.14159 1,000,000 2023-05-07", "word " * 600, "The quick brown fox jumps over the lazy dog. " * 120,
    "é" * 40 + "x",
]


def main():
    model = Embedding(sys.argv[1])
    cases = []
    for text in TEXTS:
        ids = model.tokeniser.ids(text)
        vector = model.embed(text)
        cases.append({"text": text, "ids": ids, "tokens": [model.tokeniser.vocab[i] for i in ids], "first8": [round(float(x), 6) for x in vector[:8]]})
    json.dump({"dims": model.dims, "cases": cases}, open(sys.argv[2], "w"), ensure_ascii=True, indent=0)
    if len(sys.argv) > 3:
        by_letter = {}
        for char, base in sorted(ACCENTS.items()):
            by_letter[base] = by_letter.get(base, "") + char
        json.dump(by_letter, open(sys.argv[3], "w"), ensure_ascii=False, indent=0, sort_keys=True)


if __name__ == "__main__":
    main()

"""Single messages out of the generated texts; shared by the writer and the trainer."""
import re


def units(kind, texts):
    for text in texts:
        if kind == "dialogue":
            for line in text.split("\n"):
                if re.match(r"[A-Z][a-z]+: \S", line) and 6 <= len(line.split()) <= 60:
                    yield line.strip()
        else:
            text = " ".join(text.split())
            text = re.sub(r"[^.!?]*$", "", text) if len(text) > 300 else text
            if 6 <= len(text.split()) <= 90:
                yield text

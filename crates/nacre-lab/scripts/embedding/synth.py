"""Write synthetic conversations and questions about them with a small permissively licensed instruct model on a GPU.

Usage: synth.py MODEL_FOLDER GGUF_FILE NOUNS_FILE OUT_FOLDER [seconds for each of the four stages]
"""
import gzip
import json
import random
import sys
import time

import torch
from synth_units import units
from topics import DAILY, NAMES, OPEN_DEV, OPEN_USER, SHOTS_DAILY, SHOTS_DEV, SOFTWARE
from transformers import AutoModelForCausalLM, AutoTokenizer


def chat(system, user, start):
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n{start}"


def dialogue(rng, nouns):
    first, second = rng.sample(NAMES, 2)
    topic, extra = rng.choice(DAILY), rng.choice(nouns)
    ask = f"Write a chat between two friends, {first} and {second}, about {topic} and {extra}. Every line starts with the name of the one who speaks. They tell each other concrete details: places, days, people and things."
    return chat("You write realistic conversations.", ask, f"{first}:"), f"{first}:"


def personal(rng, nouns):
    start = rng.choice(OPEN_USER)
    system = f"The user talks with a helpful assistant about {rng.choice(DAILY)} and {rng.choice(nouns)}, and mentions details of their own life."
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{start}", start


def developer(rng, nouns):
    start = rng.choice(OPEN_DEV)
    system = f"The user is a software developer who works with a coding assistant on {rng.choice(SOFTWARE)} and {rng.choice(SOFTWARE)} in the {rng.choice(nouns)} project. They state decisions, reasons, files and errors."
    return f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{start}", start


class Writer:
    def __init__(self, folder, gguf):
        self.tok = AutoTokenizer.from_pretrained(folder, gguf_file=gguf)
        self.tok.padding_side = "left"
        if self.tok.pad_token is None:
            self.tok.pad_token = self.tok.eos_token
        self.model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=gguf, dtype=torch.bfloat16).cuda().eval()

    @torch.inference_mode()
    def batch(self, prompts, tokens, temperature):
        enc = self.tok(prompts, return_tensors="pt", padding=True).to("cuda")
        out = self.model.generate(**enc, do_sample=True, top_k=40, temperature=temperature, max_new_tokens=tokens, repetition_penalty=1.0)
        return self.tok.batch_decode(out[:, enc.input_ids.shape[1] :], skip_special_tokens=True)


def stage(writer, make, nouns, seconds, tokens, size, rng):
    out, end = [], time.time() + seconds
    while time.time() < end:
        prompts, starts = zip(*[make(rng, nouns) for _ in range(size)])
        out += [s + text for s, text in zip(starts, writer.batch(list(prompts), tokens, 0.9))]
    return out


def main():
    folder, gguf, nouns, target = sys.argv[1:5]
    budget = [float(x) for x in sys.argv[5:9]] or [130, 60, 70, 70]
    rng = random.Random(7)
    torch.manual_seed(7)
    nouns = open(nouns).read().split()
    writer = Writer(folder, gguf)
    start, texts = time.time(), {}
    for kind, make, seconds, tokens in (("dialogue", dialogue, budget[0], 220), ("personal", personal, budget[1], 96), ("developer", developer, budget[2], 96)):
        texts[kind] = stage(writer, make, nouns, seconds, tokens, 3072, rng)
        print(kind, len(texts[kind]), round(time.time() - start), repr(texts[kind][0]), flush=True)
        with gzip.open(f"{target}/{kind}.jsonl.gz", "wt", compresslevel=6) as f:
            f.writelines(json.dumps(t) + "\n" for t in texts[kind])
    todo = [(k, u) for k in texts for u in sorted(set(units(k, texts[k])))]
    rng.shuffle(todo)
    end, pairs = time.time() + budget[3], []
    for at in range(0, len(todo), 4096):
        if time.time() > end:
            break
        part = todo[at : at + 4096]
        prompts = [(SHOTS_DEV if k == "developer" else SHOTS_DAILY) + f"Message: {u}\nQuestion:" for k, u in part]
        for (kind, unit), text in zip(part, writer.batch(prompts, 24, 0.7)):
            line = text.strip().split("\n")[0].strip()
            if line.endswith("?") and len(line.split()) >= 4:
                pairs.append([kind, line, unit])
    with gzip.open(f"{target}/questions.jsonl.gz", "wt", compresslevel=6) as f:
        f.writelines(json.dumps(p) + "\n" for p in pairs)
    print("units", len(todo), "pairs", len(pairs), pairs[:6], round(time.time() - start))


if __name__ == "__main__":
    main()

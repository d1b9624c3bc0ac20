"""Measure dense-only and simple hybrid retrieval on three public memory sets; never used for training or tuning.

Usage: evaluate.py BENCH_FOLDER CACHE_FOLDER TEACHER_FOLDER [embedding.bin ...]   (`teacher` as a name measures the teacher)
"""
import json
import math
import os
import re
import sys
from collections import Counter

import numpy as np
import snowballstemmer

STOP = set("""a about above after again against all am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers herself him himself his
how i if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves out
over own same she should so some such than that the their theirs them themselves then there these they this those through to too
under until up very was we were what when where which while who whom why will with would you your yours yourself s t don ll re ve d m""".split())
STEM = snowballstemmer.stemmer("english")
STEMS = {}


def terms(text):
    out = []
    for word in re.findall(r"\w+", text.lower()):
        if word not in STOP:
            if word not in STEMS:
                STEMS[word] = STEM.stemWord(word)
            out.append(STEMS[word])
    return out


class Bm25:
    def __init__(self, texts, k1=0.9, b=0.4):
        docs = [Counter(terms(t)) for t in texts]
        length = np.array([sum(d.values()) for d in docs], float)
        norm = k1 * (1 - b + b * length / max(length.mean(), 1))
        self.post, self.size = {}, len(docs)
        for i, doc in enumerate(docs):
            for term, count in doc.items():
                self.post.setdefault(term, []).append((i, count * (k1 + 1) / (count + norm[i])))

    def scores(self, query):
        out = np.zeros(self.size)
        for term in set(terms(query)):
            hits = self.post.get(term, [])
            idf = math.log(1 + (self.size - len(hits) + 0.5) / (len(hits) + 0.5))
            for i, weight in hits:
                out[i] += idf * weight
        return out


def load(bench):
    """Sets as lists of (units, unit->document, document texts for the lexical leg, questions[(text, gold documents)])."""
    turn, session = [], []
    for talk in json.load(open(f"{bench}/locomo/locomo_0-4.json")):
        ids, texts, owner, joined, c = [], [], [], [], talk["conversation"]
        for n in range(1, 100):
            if not c.get(f"session_{n}"):
                continue
            lines = []
            for t in c[f"session_{n}"]:
                extra = f" [shares {t['blip_caption']}]" if t.get("blip_caption") else ""
                ids.append(t["dia_id"])
                lines.append(f"{t['speaker']}: {t['text']}{extra}")
                owner.append(len(joined))
            texts += lines
            joined.append("\n".join(lines))
        place = {d: i for i, d in enumerate(ids)}
        by_turn, by_session = [], []
        for q in talk["qa"]:
            gold = {place[e] for part in q["evidence"] for e in re.findall(r"D\d+:\d+", part) if e in place}
            if q["category"] in (1, 2, 3, 4) and gold:
                by_turn.append((q["question"], gold))
                by_session.append((q["question"], {owner[g] for g in gold}))
        turn.append((texts, list(range(len(texts))), texts, by_turn))
        session.append((texts, owner, joined, by_session))
    long = []
    for line in open(f"{bench}/longmemeval/s_user500_dev200.jsonl"):
        q = json.loads(line)
        texts = [s["text"] for s in q["sessions"]]
        gold = {i for i, s in enumerate(q["sessions"]) if s["id"] in q["answer_session_ids"]}
        if gold:
            long.append((texts, list(range(len(texts))), texts, [(q["question"], gold)]))
    units, owner, joined, place = [], [], [], {}
    for s in json.load(open(f"{bench}/devmembench/sessions.json")):
        place[s["sessionId"]] = len(joined)
        lines = [m["content"] for m in s["messages"]]
        units += lines
        owner += [len(joined)] * len(lines)
        joined.append("\n".join(lines))
    questions = [(q["question"], {place[s] for s in q["haystackSessionIds"] if s in place}) for q in json.load(open(f"{bench}/devmembench/questions.json"))]
    dev = [(units, owner, joined, [q for q in questions if q[1]])]
    return {"locomo-turn": turn, "locomo-session": session, "longmemeval": long, "devmembench": dev}


class Teacher:
    """The transformer itself (int8 ONNX), its vectors kept in a cache file."""

    def __init__(self, folder, cache):
        self.folder, self.path = folder, f"{cache}/teacher.npz"
        self.cache = {}
        if os.path.exists(self.path):
            with np.load(self.path, allow_pickle=True) as z:
                self.cache = dict(zip(z["texts"].tolist(), z["vectors"]))

    def fill(self, texts):
        import onnxruntime as ort
        from tokenizers import Tokenizer

        todo = sorted({t for t in texts if t not in self.cache}, key=len)
        if not todo:
            return
        tok = Tokenizer.from_file(f"{self.folder}/tokenizer.json")
        tok.enable_truncation(256)
        tok.enable_padding()
        session = ort.InferenceSession(f"{self.folder}/model_int8.onnx", providers=["CPUExecutionProvider"])
        names = {i.name for i in session.get_inputs()}
        for at in range(0, len(todo), 32):
            enc = tok.encode_batch(todo[at : at + 32])
            ids = np.array([e.ids for e in enc], np.int64)
            mask = np.array([e.attention_mask for e in enc], np.int64)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            for text, v in zip(todo[at : at + 32], pooled / np.linalg.norm(pooled, axis=1, keepdims=True)):
                self.cache[text] = v.astype(np.float32)
        np.savez(self.path, texts=np.array(list(self.cache), object), vectors=np.array(list(self.cache.values())))

    def embed(self, text):
        return self.cache[text]


def scale(x):
    low, high = x.min(), x.max()
    return (x - low) / (high - low) if high > low else x * 0


def metrics(order, gold):
    found = [n for n, d in enumerate(order) if d in gold]
    row = [sum(n < k for n in found) / len(gold) for k in (1, 5, 10)]
    return row + [float(found[0] < 5), 1 / (found[0] + 1)]


def measure(sets, embed, lexical):
    """Per set: rows (R@1, R@5, R@10, any@5, MRR) of dense alone and of the hybrids at dense weight .5 and .7."""
    out = {}
    for name, groups in sets.items():
        rows = {"dense": [], "hybrid.5": [], "hybrid.7": []}
        for g, (units, owner, _, questions) in enumerate(groups):
            matrix = np.array([embed(u) for u in units])
            owner = np.array(owner)
            for q, (text, gold) in enumerate(questions):
                unit = matrix @ embed(text)
                dense = np.full(owner.max() + 1, -1.0)
                np.maximum.at(dense, owner, unit)
                bm25 = scale(lexical[name][g][q])
                for key, score in (("dense", dense), ("hybrid.5", 0.5 * bm25 + 0.5 * scale(dense)), ("hybrid.7", 0.3 * bm25 + 0.7 * scale(dense))):
                    rows[key].append(metrics(np.argsort(-score, kind="stable").tolist(), gold))
        out[name] = {k: (100 * np.mean(v, 0)).round(1).tolist() for k, v in rows.items()}
    return out


def lexical_scores(sets):
    out = {}
    for name, groups in sets.items():
        out[name] = []
        for _, _, docs, questions in groups:
            index = Bm25(docs)
            out[name].append([index.scores(q) for q, _ in questions])
    return out


def cached(model):
    memory = {}

    def embed(text):
        if text not in memory:
            memory[text] = model.embed(text)
        return memory[text]

    return embed


def main():
    from tokenise import Embedding

    bench, cache, teacher = sys.argv[1:4]
    sets = load(bench)
    lexical = lexical_scores(sets)
    for path in sys.argv[4:]:
        if path == "teacher":
            model = Teacher(teacher, cache)
            model.fill([t for groups in sets.values() for u, _, _, qs in groups for t in u + [q for q, _ in qs]])
        else:
            model = Embedding(path)
        result = measure(sets, cached(model), lexical)
        print(f"{path}\n  {'set':15} {'kind':9} {'R@1':>6} {'R@5':>6} {'R@10':>6} {'any@5':>6} {'MRR':>6}")
        for name, kinds in result.items():
            for kind, row in kinds.items():
                print(f"  {name:15} {kind:9} " + " ".join(f"{x:6.1f}" for x in row))
        sys.stdout.flush()


if __name__ == "__main__":
    main()

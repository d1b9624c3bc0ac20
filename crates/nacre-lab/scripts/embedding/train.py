"""Train the static token vectors on the teacher's sentence vectors and on (question, passage) pairs.

Usage: train.py TEACHER_FOLDER DATA_FOLDER OUT_FOLDER VARIANT...   VARIANT = name:key=value,key=value
"""
import gzip
import json
import random
import re
import sys
import time
from collections import Counter
from multiprocessing import Pool

import numpy as np
import torch
import torch.nn.functional as F
from distil import teacher_vocab
from synth_units import units
from tokenise import Tokeniser, chunks, fold, parts, write

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
START = time.time()
# Stand-ins for the two speakers of a dialogue: in every batch they become two random names for all its texts,
# so that, as in one long conversation, the name alone does not find the passage.
SPEAKERS = ("Zqa", "Zqb")
SHARE = {"docs": 0.2, "entry": 0.1, "dialogue": 0.25, "cloze": 0.15, "window": 0.1, "personal": 0.1, "developer": 0.1}
NAMED = ("dialogue", "window", "cloze")
COMMON = set("that this with have from they your what when were been will would there their about which just like really know think some them then than".split())
DEFAULTS = {"dims": 256, "rows": 43000, "steps": 6000, "lr": 2e-3, "cos": 1.0, "kl": 1.0, "nce": 1.0, "tau": 0.05, "batch": 2048, "drop": 0.1, "sif": 1e-3, "soup": 0, "mix": 0}


def say(*what):
    print(round(time.time() - START), *what, flush=True)


def lines(path):
    try:
        with gzip.open(path, "rt") as f:
            for line in f:
                yield json.loads(line)
    except (EOFError, json.JSONDecodeError, FileNotFoundError) as e:
        say("stopped reading", path, e)


class Data:
    """Texts once each, and pairs of text numbers by source."""

    def __init__(self, folder):
        self.texts, self.number, self.pairs, self.alias = [], {}, {}, {}
        rng = random.Random(2)
        for title, text in lines(f"{folder}/docs.jsonl.gz"):
            if "Created using Sphinx" in text or title == "Navigation":
                continue
            text = re.sub(r"\[1913 Webster\]|\[syn: .*?\]|[{}]", "", text)
            self.add(text)
            title = re.sub(r"\\.*", "", title)
            if title:
                self.pair("entry" if len(title) < 25 and len(text) < 200 else "docs", title, text)
        whole, names = {}, {}
        for kind in ("dialogue", "personal", "developer"):
            for text in lines(f"{folder}/{kind}.jsonl.gz"):
                found = list(units(kind, [text]))
                for unit in found:
                    self.add(unit)
                speakers = list(dict.fromkeys(u.split(":")[0] for u in found)) if kind == "dialogue" else []
                if len(speakers) == 2:
                    for unit in found:
                        names[unit] = speakers
                        self.cloze(unit, speakers, rng)
                if kind == "dialogue" and len(found) > 2:
                    for at in range(0, len(found), 4):
                        window = " ".join(found[at : at + 6])[:700]
                        self.add(window)
                        for unit in found[at : at + 4]:
                            whole[unit] = window
        for kind, question, unit in lines(f"{folder}/questions.jsonl.gz"):
            if question.rstrip("?").lower() in unit.lower():
                continue
            if unit not in names:
                self.pair(kind if kind != "dialogue" else "personal", question, unit)
                continue
            left = self.renamed(question, names[unit])
            self.pair(kind, left, self.renamed(unit, names[unit]))
            if unit in whole:
                self.pair("window", left, self.renamed(whole[unit], names[unit]))

    def renamed(self, text, speakers):
        new = text
        for name, stand_in in zip(speakers, SPEAKERS):
            new = re.sub(rf"\b{name}\b", stand_in, new)
        if new != text:
            self.alias[self.add(new)] = self.add(text)
        return new

    def cloze(self, unit, speakers, rng):
        """A question-like query made of the speaker and two or three words of the message."""
        speaker, _, body = unit.partition(": ")
        words = [w for w in re.findall(r"[a-z]{4,}", body) if w not in COMMON]
        if len(words) < 4:
            return
        asked = rng.choice(("What did", "When did", "Where did", "Why did", "How did", "What is", "Who did"))
        query = self.renamed(f"{asked} {speaker} {' '.join(rng.sample(words, rng.choice((2, 3))))}?", speakers)
        self.alias[self.add(query)] = self.add(unit)
        self.pair("cloze", query, self.renamed(unit, speakers))

    def add(self, text):
        if text not in self.number:
            self.number[text] = len(self.texts)
            self.texts.append(text)
        return self.number[text]

    def pair(self, kind, left, right):
        self.pairs.setdefault(kind, []).append((self.add(left), self.add(right)))


@torch.inference_mode()
def teacher_vectors(folder, texts, batch_tokens=120_000, limit=160):
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    tok = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tok.enable_truncation(limit)
    tok.no_padding()
    ids = []
    for at in range(0, len(texts), 50_000):
        ids += [e.ids for e in tok.encode_batch_fast(texts[at : at + 50_000])]
    model = BertModel(BertConfig(**{k: v for k, v in json.load(open(f"{folder}/config.json")).items() if k not in ("architectures", "model_type", "transformers_version")}), add_pooling_layer=False)
    from safetensors.torch import load_file

    state = {k.removeprefix("bert."): v.float() for k, v in load_file(f"{folder}/model.safetensors").items()}
    say("teacher keys", model.load_state_dict(state, strict=False).missing_keys[:4])
    model = model.to(DEVICE).eval()
    model = model.half() if DEVICE == "cuda" else model
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out = torch.empty(len(ids), 384, dtype=torch.float16)
    at = 0
    while at < len(order):
        width = len(ids[order[at]])
        size = max(1, batch_tokens // max(width, 8))
        part = order[at : at + size]
        width = len(ids[part[-1]])
        block = np.zeros((len(part), width), np.int64)
        mask = np.zeros((len(part), width), np.int64)
        for row, i in enumerate(part):
            block[row, : len(ids[i])] = ids[i]
            mask[row, : len(ids[i])] = 1
        block, mask = torch.from_numpy(block).to(DEVICE), torch.from_numpy(mask).to(DEVICE)
        hidden = model(input_ids=block, attention_mask=mask).last_hidden_state.float()
        pooled = F.normalize((hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True), dim=1)
        out[torch.tensor(part)] = pooled.half().cpu()
        at += size
    return out


def count_words(texts):
    seen = Counter()
    for text in texts:
        found = set()
        for chunk in chunks(text):
            whole = fold(chunk)
            found.add(whole)
            found.update(fold(p) for p in parts(chunk))
        seen.update(found)
    return seen


TOKENISER = None


def encode(texts):
    return [np.array(TOKENISER.ids(t), np.int32) for t in texts]


def pooled(function, texts, size=5000):
    with Pool() as pool:
        return pool.map(function, [texts[i : i + size] for i in range(0, len(texts), size)])


class Bags:
    """Token ids of all texts, packed on the device."""

    def __init__(self, encoded):
        length = np.array([len(e) for e in encoded])
        self.start = torch.from_numpy(np.concatenate([[0], np.cumsum(length)])).to(DEVICE)
        self.flat = torch.from_numpy(np.concatenate(encoded).astype(np.int64)).to(DEVICE)
        self.stand_ins, self.names = (-1, -1), (-1, -1)

    def take(self, rows):
        start, length = self.start[rows], self.start[rows + 1] - self.start[rows]
        offsets = torch.cumsum(length, 0) - length
        position = torch.arange(int(length.sum()), device=DEVICE)
        which = torch.repeat_interleave(torch.arange(len(rows), device=DEVICE), length)
        ids = self.flat[start[which] + position - offsets[which]]
        for stand_in, name in zip(self.stand_ins, self.names):
            ids = torch.where(ids == stand_in, name, ids)
        return ids, offsets


def student(rows, weight, bags, take, drop=0.0):
    ids, offsets = bags.take(take)
    w = weight[ids].exp()
    if drop:
        w = w * (torch.rand_like(w) > drop)
    return F.normalize(F.embedding_bag(ids, rows, offsets, mode="sum", per_sample_weights=w), dim=1, eps=1e-6)


@torch.no_grad()
def held_out(embed, pairs):
    """R@1 and R@5 of the right passage among the passages of up to 4,000 held-out pairs of each source."""
    out = {}
    for kind, p in pairs.items():
        left, right = embed(p[:, 0]), embed(p[:, 1])
        score = left @ right.T
        rank = (score > score.diagonal()[:, None]).sum(1)
        out[kind] = [round(100 * float((rank < k).float().mean()), 1) for k in (1, 5)]
    return out


def batches(pairs, target, size, rng):
    """Endless batches of pairs of one source each; half of them of neighbours in meaning, so that negatives are hard."""
    kinds = list(pairs)
    share = torch.tensor([SHARE[k] for k in kinds])
    while True:
        kind = kinds[int(torch.multinomial(share, 1, generator=rng))]
        p = pairs[kind]
        if torch.rand(1, generator=rng) < 0.5 and len(p) > 2 * size:
            pool = p[torch.randint(len(p), (min(len(p), 16 * size),), generator=rng).to(DEVICE)]
            direction = torch.randn(target.shape[1], generator=rng).to(DEVICE)
            order = torch.argsort(target[pool[:, 1]].float() @ direction)
            at = int(torch.randint(len(pool) - size + 1, (1,), generator=rng))
            yield kind, pool[order[at : at + size]]
        else:
            yield kind, p[torch.randint(len(p), (min(size, len(p)),), generator=rng).to(DEVICE)]


def train(name, option, first, sif, bags, target, pairs, held, usable, names, count):
    rng = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    rows = torch.nn.Parameter(first.clone())
    weight = torch.nn.Parameter(torch.log(sif))
    optimiser = torch.optim.Adam([{"params": [rows], "lr": option["lr"] * float(first.norm(dim=1).mean()) / first.shape[1] ** 0.5 * 4}, {"params": [weight], "lr": option["lr"] * 4}])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: min(1, s / 100) * max(0.01, 1 - s / option["steps"]))
    stream = batches(pairs, target, int(option["batch"]), rng)
    for step in range(int(option["steps"])):
        loss, parts_of = 0.0, []
        if option["cos"]:
            take = usable[torch.randint(len(usable), (int(option["batch"] * 2),), generator=rng).to(DEVICE)]
            out = student(rows, weight, bags, take, option["drop"])
            wanted = target[take].float()
            cos = 1 - (out * wanted).sum(1).mean()
            gram = ((out @ out.T - wanted @ wanted.T) ** 2).mean() * 20
            loss = loss + option["cos"] * (cos + gram)
            parts_of.append(float(cos.detach()) if step % 1000 == 0 else 0)
        if option["kl"] or option["nce"]:
            kind, p = next(stream)
            two = torch.randint(len(names), (2,), generator=rng).tolist()
            bags.names = (names[two[0]], names[two[1]])
            left, right = student(rows, weight, bags, p[:, 0], option["drop"]), student(rows, weight, bags, p[:, 1], option["drop"])
            score = left @ right.T / option["tau"]
            with torch.no_grad():
                soft = target[p[:, 0]].float() @ target[p[:, 1]].float().T
                same = (p[:, 1][None] == p[:, 1][:, None]) & ~torch.eye(len(p), dtype=torch.bool, device=DEVICE)
                # Passages that the teacher ranks far above the right one are false negatives.
                false = same | (soft > soft.diagonal()[:, None] + 0.1)
                goal = F.softmax(soft / option["tau"], 1)
            label = torch.arange(len(p), device=DEVICE)
            nce = (F.cross_entropy(score.masked_fill(false, -1e4), label) + F.cross_entropy(score.T.masked_fill(false.T, -1e4), label)) / 2
            kl = F.kl_div(F.log_softmax(score, 1), goal, reduction="batchmean")
            loss = loss + 0.1 * (option["nce"] * nce + (0 if kind in NAMED else option["kl"]) * kl)
            if step % 1000 == 0:
                parts_of += [float(nce.detach()), float(kl.detach())]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 1000 == 0:
            say(name, step, [round(x, 3) for x in parts_of])
    with torch.no_grad():
        bags.names = (names[0], names[1])
        say(name, "held out", held_out(lambda t: student(rows, weight, bags, t), held))
        return even_growth(rows * weight.exp()[:, None], first * sif[:, None], count).cpu().numpy()


def even_growth(final, start, count):
    """Training lengthens the rows it sees; rows seen rarely are lengthened by the usual factor instead of their own."""
    ratio = torch.log(final.norm(dim=1).clamp(min=1e-6) / start.norm(dim=1).clamp(min=1e-6))
    usual = ratio[(count >= 20) & (count < 200)].median()
    wanted = (count * ratio + 20 * usual) / (count + 20)
    return final * (wanted - ratio).exp()[:, None]


def main():
    global TOKENISER
    teacher, folder, target_folder = sys.argv[1:4]
    data = Data(folder)
    say("texts", len(data.texts), {k: len(v) for k, v in data.pairs.items()})
    vocab, _, _ = teacher_vocab(f"{teacher}/tokenizer.json")
    seen = Counter()
    for part in pooled(count_words, data.texts):
        seen.update(part)
    have = set(vocab)
    new = [w for w, n in seen.most_common() if n >= 6 and w not in have and not w.startswith("zq") and 3 <= len(w) <= 24 and re.fullmatch(r"[a-z]+[0-9]{0,3}", w)]
    say("new words", len(new), new[:40], new[12000:12020])
    vectors = teacher_vectors(teacher, data.texts).clone()
    say("teacher done", vectors.shape)
    single = teacher_vectors(teacher, [t.removeprefix("##") for t in vocab + new]).float()
    for new_text, old_text in data.alias.items():
        vectors[new_text] = vectors[old_text]
    source = vectors.to(DEVICE)
    proper = set(open(f"{folder}/names.txt").read().lower().split())
    sample = source[torch.randperm(len(source), generator=torch.Generator().manual_seed(3))[:200_000].to(DEVICE)].float()
    _, _, basis = torch.linalg.svd(sample.T @ sample)
    usable_pairs, held, rng = {}, {}, random.Random(5)
    for kind, p in data.pairs.items():
        p = torch.tensor(sorted(set(p)), device=DEVICE)
        cos = (source[p[:, 0]].float() * source[p[:, 1]].float()).sum(1)
        p = p[cos > {"docs": 0.3, "entry": 0.3, "dialogue": 0.4, "window": 0.35}.get(kind, 0.45)]
        p = p[torch.randperm(len(p), generator=torch.Generator().manual_seed(4)).to(DEVICE)]
        size = min(4000, len(p) // 10)
        held[kind], usable_pairs[kind] = p[:size], p[size:]
    say("pairs kept", {k: len(v) for k, v in usable_pairs.items()}, "teacher held out", held_out(lambda t: source[t].float(), held))
    hidden = set(torch.cat([p[:, 1] for p in held.values()]).tolist())
    cache, finals = {}, []
    for spec in sys.argv[4:]:
        name, _, rest = spec.partition(":")
        option = DEFAULTS | {k: float(v) for k, v in (x.split("=") for x in rest.split(",") if x)}
        dims, rows = int(option["dims"]), int(option["rows"])
        if rows not in cache:
            cache.clear()
            words = (vocab + new)[:rows]
            if rows < len(vocab):
                score = {t: seen.get(t, 0) + (1e9 if len(t.removeprefix("##")) <= 2 else 0) for t in vocab}
                words = sorted(vocab[1:], key=lambda t: -score[t] if not t.startswith("##") else -1e8)[: rows - 1]
                words = [vocab[0]] + words
            words = words + [s.lower() for s in SPEAKERS]
            TOKENISER = Tokeniser(words)
            cache[rows] = (words, Bags([e for part in pooled(encode, data.texts) for e in part]))
            say("tokenised", len(words))
        words, bags = cache[rows]
        bags.stand_ins = (len(words) - 2, len(words) - 1)
        names = [i for i, w in enumerate(words) if w in proper]
        bags.names = (names[0], names[1])
        at = {t: i for i, t in enumerate(vocab + new)} | {s.lower(): 0 for s in SPEAKERS}
        first = (single[[at[w] for w in words]].to(DEVICE) @ basis[:dims].T).contiguous()
        count = torch.bincount(bags.flat, minlength=len(words)).float()
        sif = option["sif"] / (option["sif"] + (count + 1) / count.sum())
        target = F.normalize(source.float() @ basis[:dims].T, dim=1).half()
        length = bags.start[1:] - bags.start[:-1]
        ok = (length > 1).cpu().numpy()
        usable = torch.tensor([i for i in range(len(data.texts)) if ok[i] and i not in hidden and i not in data.alias], device=DEVICE)
        with torch.no_grad():
            say(name, "untrained", held_out(lambda t: student(first, torch.log(sif), bags, t), held))
        plain = (first * sif[:, None]).cpu().numpy()
        if option["soup"]:
            # Average the runs at equal mean row length, and blend in the untrained rows.
            runs = [r / np.linalg.norm(r, axis=1).mean() for r in finals]
            final = (1 - option["mix"]) * sum(runs) / len(runs) + option["mix"] * plain / np.linalg.norm(plain, axis=1).mean()
            with torch.no_grad():
                rows_now = torch.from_numpy(final).float().to(DEVICE)
                say(name, "held out", held_out(lambda t: student(rows_now, torch.zeros(len(final), device=DEVICE), bags, t), held))
        elif option["steps"]:
            final = train(name, option, first, sif, bags, target, usable_pairs, held, usable, names, count)
            finals.append(final)
        else:
            final = plain
        final[0] = 0
        say(name, "bytes", write(f"{target_folder}/{name}.bin", words[:-2], final[:-2]))


if __name__ == "__main__":
    main()

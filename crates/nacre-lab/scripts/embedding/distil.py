"""Plain distillation: every vocabulary token through the teacher alone, PCA, Zipf/SIF weight."""
import json
import sys

import numpy as np

from tokenise import write


def teacher_vocab(tokenizer_json):
    """The teacher's tokens that text can produce, in its order; index 0 is the unknown token."""
    vocab = json.load(open(tokenizer_json))["model"]["vocab"]
    ordered = sorted(vocab, key=vocab.get)
    keep = [t for t in ordered if not (t.startswith("[") and t.endswith("]") and len(t) > 2)]
    return ["[UNK]"] + keep, [vocab["[UNK]"]] + [vocab[t] for t in keep], (vocab["[CLS]"], vocab["[SEP]"])


def token_outputs(model, ids, ends, batch=1024):
    """Mean of the teacher's output over `[CLS] token [SEP]` for each token id list."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    out = []
    for at in range(0, len(ids), batch):
        part = np.array([[ends[0], i, ends[1]] for i in ids[at : at + batch]], np.int64)
        feed = {"input_ids": part, "attention_mask": np.ones_like(part), "token_type_ids": np.zeros_like(part)}
        out.append(session.run(None, {k: v for k, v in feed.items() if k in names})[0].mean(1))
    return np.concatenate(out).astype(np.float32)


def pca(vectors, dims):
    mean = vectors.mean(0)
    _, _, basis = np.linalg.svd((vectors - mean).T @ (vectors - mean))
    return (vectors - mean) @ basis[:dims].T


def main():
    folder, dims, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    vocab, ids, ends = teacher_vocab(f"{folder}/tokenizer.json")
    vectors = pca(token_outputs(f"{folder}/model_int8.onnx", ids, ends), dims)
    rank = np.arange(2, len(vocab) + 2)
    probability = (1 / rank) / (1 / rank).sum()
    vectors *= (1e-3 / (1e-3 + probability))[:, None]
    vectors[0] = 0
    print(write(target, vocab, vectors), vectors.shape)


if __name__ == "__main__":
    main()

//! A small random model against a slow and plain computation of the same in double precision, and
//! the real one, where it is at hand, against what other programs compute.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const SMALL: Shape = Shape { hidden: 32, layers: 2, heads: 2, inner: 64 };

const WORDS: &[&str] =
    &["[PAD]", "[UNK]", "[CLS]", "[SEP]", "use", "one", "file", "##s", "for", "the", "queue", "."];

/// Tensors by name: shape and numbers.
type Model = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> i32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i32::try_from(self.0 >> 33).unwrap() % 128 * if self.0 & (1 << 20) == 0 { 1 } else { -1 }
    }

    /// Rows that 8-bit numbers can hold exactly: whole steps, the largest of a group 127.
    fn rows(&mut self, n_rows: usize, width: usize, step: f32) -> Vec<f32> {
        let mut rows = Vec::new();
        for row in 0..n_rows {
            let number = |idx: usize| {
                // No two neighbors share a scale, so that one that is mixed up is noticed.
                let step = step * [1.0, 0.5, 0.25][(row + idx / kernel::GROUP) % 3];
                let steps = if idx.is_multiple_of(kernel::GROUP) { 127 } else { self.roll() };
                steps as f32 * step
            };
            rows.extend((0..width).map(number));
        }
        rows
    }
}

fn small_model() -> Model {
    let Shape { hidden, layers, inner, .. } = SMALL;
    let mut dice = Dice(7);
    let mut model = Model::new();
    let mut add = |name: String, shape: &[usize], step: f32| {
        let width = *shape.last().unwrap();
        let numbers = dice.rows(shape.iter().product::<usize>() / width, width, step);
        model.insert(name, (shape.to_vec(), numbers));
    };
    add("embeddings.word_embeddings.weight".to_owned(), &[WORDS.len(), hidden], 0.01);
    add("embeddings.position_embeddings.weight".to_owned(), &[512, hidden], 0.004);
    add("embeddings.token_type_embeddings.weight".to_owned(), &[2, hidden], 0.002);
    let mut norms = vec!["embeddings".to_owned()];
    for layer in 0..layers {
        let prefix = format!("encoder.layer.{layer}");
        let mut dense = |name: &str, columns: usize, rows: usize| {
            add(format!("{prefix}.{name}.weight"), &[columns, rows], 0.003);
            add(format!("{prefix}.{name}.bias"), &[columns], 0.002);
        };
        for name in ["query", "key", "value"] {
            dense(&format!("attention.self.{name}"), hidden, hidden);
        }
        dense("attention.output.dense", hidden, hidden);
        dense("intermediate.dense", inner, hidden);
        dense("output.dense", hidden, inner);
        norms.extend([format!("{prefix}.attention.output"), format!("{prefix}.output")]);
    }
    for name in norms {
        add(format!("{name}.LayerNorm.weight"), &[hidden], 0.01);
        add(format!("{name}.LayerNorm.bias"), &[hidden], 0.003);
    }
    model
}

fn packed(model: &Model) -> Vec<u8> {
    let tensors: Vec<_> = model
        .iter()
        .map(|(name, (shape, numbers))| (name.clone(), shape.clone(), numbers.clone()))
        .collect();
    let vocab: BTreeMap<&str, usize> = WORDS.iter().copied().zip(0..).collect();
    let tokenizer = serde_json::json!({ "model": { "vocab": vocab } }).to_string();
    pack(SMALL, &tensors::write(&tensors), tokenizer.as_bytes()).unwrap()
}

/// The slow computation: tables of doubles, one loop an operation.
struct Reference<'a>(&'a Model);

type Table = Vec<Vec<f64>>;

impl Reference<'_> {
    fn numbers(&self, name: &str) -> Vec<f64> {
        self.0[name].1.iter().map(|number| f64::from(*number)).collect()
    }

    fn row(&self, name: &str, idx: usize) -> Vec<f64> {
        let width = SMALL.hidden;
        self.numbers(name)[idx * width..(idx + 1) * width].to_vec()
    }

    fn dense(&self, name: &str, x: &Table) -> Table {
        let weights = self.numbers(&format!("{name}.weight"));
        let biases = self.numbers(&format!("{name}.bias"));
        let width = x[0].len();
        let cell = |row: &Vec<f64>, column: usize| {
            let weights = &weights[column * width..(column + 1) * width];
            biases[column] + row.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>()
        };
        x.iter().map(|row| (0..biases.len()).map(|column| cell(row, column)).collect()).collect()
    }

    fn norm(&self, name: &str, x: &Table) -> Table {
        let gain = self.numbers(&format!("{name}.LayerNorm.weight"));
        let bias = self.numbers(&format!("{name}.LayerNorm.bias"));
        let normed = |row: &Vec<f64>| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let scaled = row.iter().map(|n| (n - mean) / (variance + 1e-12).sqrt());
            scaled.zip(&gain).zip(&bias).map(|((n, gain), bias)| n * gain + bias).collect()
        };
        x.iter().map(normed).collect()
    }

    fn attention(&self, prefix: &str, x: &Table) -> Table {
        let [query, key, value] = ["query", "key", "value"]
            .map(|name| self.dense(&format!("{prefix}.attention.self.{name}"), x));
        let width = SMALL.hidden / SMALL.heads;
        let mut mixed = vec![vec![0.0; SMALL.hidden]; x.len()];
        for head in 0..SMALL.heads {
            let span = head * width..(head + 1) * width;
            for (row, query) in mixed.iter_mut().zip(&query) {
                let score = |key: &Vec<f64>| {
                    let pairs = query[span.clone()].iter().zip(&key[span.clone()]);
                    (pairs.map(|(a, b)| a * b).sum::<f64>() / (width as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = key.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for column in span.clone() {
                    let terms = scores.iter().zip(&value);
                    row[column] = terms.map(|(score, value)| score / total * value[column]).sum();
                }
            }
        }
        mixed
    }

    fn vector(&self, tokens: &[u32]) -> Vec<f64> {
        let first = |(idx, token): (usize, &u32)| {
            let word = self.row("embeddings.word_embeddings.weight", *token as usize);
            let place = self.row("embeddings.position_embeddings.weight", idx);
            let kind = self.row("embeddings.token_type_embeddings.weight", 0);
            word.iter().zip(place).zip(kind).map(|((a, b), c)| a + b + c).collect()
        };
        let mut x: Table = tokens.iter().enumerate().map(first).collect();
        x = self.norm("embeddings", &x);
        for layer in 0..SMALL.layers {
            let prefix = format!("encoder.layer.{layer}");
            let mixed = self.attention(&prefix, &x);
            let mixed = self.dense(&format!("{prefix}.attention.output.dense"), &mixed);
            x = self.norm(&format!("{prefix}.attention.output"), &sum(&x, &mixed));
            let mut wide = self.dense(&format!("{prefix}.intermediate.dense"), &x);
            wide.iter_mut().flatten().for_each(|n| *n *= 0.5 + 0.5 * erf(*n / 2_f64.sqrt()));
            let narrow = self.dense(&format!("{prefix}.output.dense"), &wide);
            x = self.norm(&format!("{prefix}.output"), &sum(&x, &narrow));
        }
        let columns = (0..SMALL.hidden).map(|idx| x.iter().map(|row| row[idx]).sum::<f64>());
        let mean: Vec<f64> = columns.collect();
        let length = mean.iter().map(|n| n * n).sum::<f64>().sqrt();
        mean.iter().map(|n| n / length).collect()
    }
}

fn sum(a: &Table, b: &Table) -> Table {
    let rows = a.iter().zip(b);
    rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// The error function by its series, which is exact enough below 6.
fn erf(x: f64) -> f64 {
    let x = x.clamp(-5.5, 5.5);
    let (mut term, mut total) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        total += term / f64::from(2 * n + 1);
    }
    total * std::f64::consts::FRAC_2_SQRT_PI
}

const TEXTS: &[&str] = &[
    "",
    "use",
    "Use one file for the queue.",
    "files files files, files and the queues. Use the one file for one queue.",
    "the queue the queue the queue the queue the queue the queue the queue the queue the queue",
];

#[test]
fn the_fast_computation_is_the_slow_one() {
    let model = small_model();
    let transformer = Transformer::open(packed(&model)).unwrap();
    transformer.verify().unwrap();
    let long = "use one file ".repeat(200);
    let texts: Vec<&str> = TEXTS.iter().copied().chain([long.as_str()]).collect();
    for (text, vector) in texts.iter().zip(transformer.embed(&texts).unwrap()) {
        let expected = Reference(&model).vector(&transformer.tokens(text));
        assert_eq!(vector.len(), transformer.dims());
        for (ours, exact) in vector.iter().zip(&expected) {
            assert!((f64::from(*ours) - exact).abs() < 2e-5, "{text:?}\n{vector:?}\n{expected:?}");
        }
    }
}

#[test]
fn a_text_has_the_same_vector_in_any_company() {
    let transformer = Transformer::open(packed(&small_model())).unwrap();
    let many: Vec<&str> = TEXTS.iter().copied().cycle().take(83).collect();
    let together = transformer.embed(&many).unwrap();
    assert_eq!(together.len(), many.len());
    for (text, vector) in many.iter().zip(&together) {
        let alone = transformer.embed(&[*text]).unwrap();
        assert!(alone[0].iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-6), "{text:?}");
    }
    assert!(transformer.embed(&[]).unwrap().is_empty());
}

#[test]
fn damage_is_noticed() {
    let whole = packed(&small_model());
    for n_bytes in [0, 7, 8, 30, 56, 1000, whole.len() - 1] {
        assert!(Transformer::open(whole[..n_bytes].to_vec()).is_err(), "{n_bytes} bytes");
    }
    for at in (8..40).step_by(4).chain([52]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert!(Transformer::open(bytes).is_err(), "byte {at}");
    }
    let mut bytes = whole;
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    assert!(Transformer::open(bytes).unwrap().verify().is_err());
}

#[test]
fn what_is_no_model_is_not_packed() {
    let tokenizer = br#"{"model": {"vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2}}}"#;
    assert!(pack(SMALL, b"", tokenizer).is_err());
    assert!(pack(SMALL, &tensors::write(&[]), tokenizer).is_err());
    assert!(pack(SMALL, &tensors::write(&[]), b"{}").is_err());
    let holes = br#"{"model": {"vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 7}}}"#;
    assert!(pack(SMALL, &tensors::write(&[]), holes).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn damaged_weights_are_no_danger(at in any::<proptest::sample::Index>(), value in any::<u8>()) {
        let mut bytes = packed(&small_model());
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(transformer) = Transformer::open(bytes) {
            let vectors = transformer.embed(TEXTS).unwrap();
            prop_assert!(vectors.iter().flatten().all(|number| number.is_finite()));
        }
    }
}

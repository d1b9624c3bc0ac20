//! Tests the bundled model against values computed by its creator, and the file format with small
//! models.

use proptest::prelude::*;
use serde::Deserialize;

use super::vocabulary;
use super::*;

/// Tokens and vectors that the model's creator computed with another program.
static GOLDEN: &str = include_str!("golden.json");

#[derive(Deserialize)]
struct Golden {
    dims: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
    tokens: Vec<String>,
    first8: Vec<f32>,
}

/// Creates a model with two dimensions. The first token is the unknown token.
fn small(words: &[(&str, f32, [i8; 2])]) -> Vec<u8> {
    let written = vocabulary::write(words.iter().map(|(word, _, _)| *word));
    let mut bytes = MAGIC.to_vec();
    let sizes = [2, words.len(), written.slots.len(), written.text.len(), 0, 0, 0, 0];
    let sizes = sizes.map(|size| u32::try_from(size).unwrap());
    let scales = words.iter().map(|(_, scale, _)| scale.to_bits());
    let scales: Vec<u32> = scales.collect();
    for number in sizes.iter().chain(&written.offsets).chain(&written.slots).chain(&scales) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&written.text);
    bytes.extend(words.iter().flat_map(|(_, _, row)| row.map(i8::cast_unsigned)));
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(&bytes).to_le_bytes());
    bytes
}

fn open(bytes: Vec<u8>) -> Option<Builtin> {
    Builtin::open(bytes.leak())
}

/// Returns whether the hash at the end of the model is that of its content.
fn is_whole(model: &Builtin) -> bool {
    model_id(xxhash_rust::xxh3::xxh3_64(&model.bytes[..model.rows.end])) == model.id
}

#[test]
fn the_shipped_model_is_whole() {
    let model = Builtin::open(SHIPPED).unwrap();
    assert!(is_whole(&model));
    assert!(SHIPPED.len() <= 12_000_000, "{} bytes", SHIPPED.len());
    assert!(model.id().starts_with("builtin-"));
}

#[test]
fn the_shipped_model_gives_what_its_maker_computed() {
    let model = Builtin::shipped();
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(model.dims(), golden.dims);
    assert!(golden.cases.len() > 20);
    let vocabulary = Vocabulary::new(model.bytes, &model.vocabulary);
    for Case { text, ids, tokens, first8 } in golden.cases {
        let found = model.tokens(&text);
        let names: Vec<&[u8]> = found.iter().filter_map(|idx| vocabulary.token(*idx)).collect();
        let expected: Vec<&[u8]> = tokens.iter().map(String::as_bytes).collect();
        assert_eq!(names, expected, "{text:?}");
        assert_eq!(found, ids, "{text:?}");
        let vector = model.embed(&text);
        for (ours, theirs) in vector.iter().zip(&first8) {
            assert!((ours - theirs).abs() < 2e-5, "{text:?}: {:?} {first8:?}", &vector[..8]);
        }
    }
}

#[test]
fn a_text_is_the_weighted_sum_of_its_words() {
    let words =
        [("[unk]", 1.0, [9, 9]), ("a", 1.0, [3, 0]), ("get", 0.5, [0, 8]), ("##s", 1.0, [-3, 0])];
    let model = open(small(&words)).unwrap();
    assert!(is_whole(&model));
    let texts = ["a get", "aGet", "as", "a", "nothing", ""];
    let vectors = texts.map(|text| model.embed(text));
    let expected = [[0.6, 0.8], [0.6, 0.8], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
    for ((text, vector), expected) in texts.iter().zip(&vectors).zip(expected) {
        assert!(
            vector.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6),
            "{text}: {vector:?}"
        );
    }
}

#[test]
fn only_the_first_words_count() {
    let model = open(small(&[("[unk]", 1.0, [0, 0]), ("a", 1.0, [1, 0]), ("b", 1.0, [0, 1])]));
    let model = model.unwrap();
    for filler in ["a ", "? ", "aZ"] {
        let text = format!("{}b", filler.repeat(MAX_WORDS));
        let n_b = model.tokens(&text).iter().filter(|token| **token == 2).count();
        assert_eq!(n_b, 0, "{filler:?}");
    }
    let text = format!("{}b", "a ".repeat(MAX_WORDS - 1));
    assert_eq!(model.tokens(&text).len(), MAX_WORDS);
}

#[test]
fn another_asset_is_another_model() {
    let one = open(small(&[("a", 1.0, [1, 0])])).unwrap();
    let two = open(small(&[("a", 1.0, [1, 1])])).unwrap();
    assert_ne!(one.id(), two.id());
}

#[test]
fn damage_is_noticed() {
    let whole = small(&[("a", 1.0, [1, 0]), ("b", 1.0, [0, 1])]);
    for n_bytes in 0..whole.len() {
        assert!(open(whole[..n_bytes].to_vec()).is_none(), "{n_bytes} bytes");
    }
    for (at, value) in [(0, b'X'), (8, 3), (12, 77), (16, 3), (16, 2), (20, 99), (28, 1)] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        assert!(open(bytes).is_none(), "byte {at}");
    }
    let mut bytes = whole;
    let last_row = bytes.len() - size_of::<u64>() - 1;
    bytes[last_row] ^= 1;
    assert!(!is_whole(&open(bytes).unwrap()));
}

proptest! {
    #[test]
    fn any_text_has_a_vector_of_length_one_or_zero(text in "\\PC{0,300}|[a-zA-Z0-9 _.\u{0}-\u{20}]{0,300}") {
        let model = Builtin::shipped();
        let vector = model.embed(&text);
        let norm: f32 = vector.iter().map(|x| x * x).sum();
        prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4, "{}", norm);
        prop_assert!(model.tokens(&text).len() <= text.len());
    }

    #[test]
    fn damaged_tables_are_no_danger(at in 40_usize..90, value in any::<u8>(), text in "[ab ]{0,20}") {
        let mut bytes = small(&[("a", 1.0, [1, 0]), ("b", 1.0, [0, 1])]);
        let at = at.min(bytes.len() - size_of::<u64>() - 1);
        bytes[at] = value;
        let vector = open(bytes).unwrap().embed(&text);
        prop_assert!(vector.iter().all(|x| x.is_finite()));
    }
}

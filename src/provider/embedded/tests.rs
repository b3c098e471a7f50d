//! Small model files of random weights, written here and run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use futures_util::StreamExt;
use proptest::prelude::*;

use super::gguf::{Extent, Header, Weights};
use super::inside::Inside;
use super::network::{Network, Sizes};
use super::testing::Gguf;
use super::vocabulary::char_of_byte;
use crate::config::ModelFolders;
use crate::provider::{Delta, EndReason, Error, ErrorKind, Message, Provider, Request, Usage};

const WIDTH: usize = 32;
const BETWEEN: usize = 64;
const MARKS: [&str; 3] = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"];
const TOKENS: usize = 256 + MARKS.len();

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn tensor(&mut self, dims: &[usize], format: u32) -> Vec<u8> {
        let count = dims.iter().product();
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let numbers: Vec<f32> = (0..count).map(|_| next()).collect();
        if format == 0 {
            return numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        }
        let tensor = Tensor::from_vec(numbers, dims, &Device::Cpu).expect("a tensor");
        let packed = QTensor::quantize(&tensor, GgmlDType::Q8_0).expect("packed");
        packed.data().expect("bytes").into_owned()
    }
}

/// A model of `family` with random weights; the matrices in `format`.
fn model(family: &str, format: u32) -> Gguf {
    let key = |name: &str| format!("{family}.{name}");
    let tokens: Vec<String> = (0..=u8::MAX).map(|byte| char_of_byte(byte).to_string()).collect();
    let tokens: Vec<String> = tokens.into_iter().chain(MARKS.map(String::from)).collect();
    let mut file = Gguf::default()
        .text("general.architecture", family)
        .number(&key("context_length"), 512)
        .number(&key("embedding_length"), WIDTH as u32)
        .number(&key("feed_forward_length"), BETWEEN as u32)
        .number(&key("block_count"), 2)
        .number(&key("attention.head_count"), 4)
        .number(&key("attention.head_count_kv"), 2)
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "qwen2")
        .texts("tokenizer.ggml.tokens", &tokens)
        .texts("tokenizer.ggml.merges", &[])
        .number("tokenizer.ggml.eos_token_id", 257)
        .text("tokenizer.chat_template", "{% for m in messages %}<|im_start|>{% endfor %}");
    let mut numbers = Numbers(7);
    let mut add = |file: Gguf, name: &str, dims: &[usize]| {
        let format = if dims.len() == 2 { format } else { 0 };
        file.tensor(name, dims, format, numbers.tensor(dims, format))
    };
    file = add(file, "token_embd.weight", &[TOKENS, WIDTH]);
    file = add(file, "output_norm.weight", &[WIDTH]);
    for layer in 0..2 {
        let mut part = |file: Gguf, name: &str, dims: &[usize]| add(file, &format!("blk.{layer}.{name}"), dims);
        for norm in ["attn_norm.weight", "ffn_norm.weight"] {
            file = part(file, norm, &[WIDTH]);
        }
        for (name, rows) in [("attn_q", 32), ("attn_k", 16), ("attn_v", 16), ("attn_output", 32)] {
            file = part(file, &format!("{name}.weight"), &[rows, WIDTH]);
            if family == "qwen2" && name != "attn_output" {
                file = part(file, &format!("{name}.bias"), &[rows]);
            }
        }
        if family == "qwen3" {
            file = part(file, "attn_q_norm.weight", &[8]);
            file = part(file, "attn_k_norm.weight", &[8]);
        }
        file = part(file, "ffn_gate.weight", &[BETWEEN, WIDTH]);
        file = part(file, "ffn_up.weight", &[BETWEEN, WIDTH]);
        file = part(file, "ffn_down.weight", &[WIDTH, BETWEEN]);
    }
    file
}

/// A model in which one tensor has other sizes.
fn altered(name: &str, dims: &[usize]) -> Vec<u8> {
    let bytes = vec![0; dims.iter().product::<usize>() * 4];
    model("llama", 0).without(name).tensor(name, dims, 0, bytes).bytes()
}

/// A model whose header gives this size once more: the last one counts.
fn sized(name: &str, size: u32) -> Vec<u8> {
    model("llama", 0).number(&format!("llama.{name}"), size).bytes()
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path
}

fn inside(file: &Path) -> Inside {
    Inside::new(ModelFolders { file: Some(file.into()), ..ModelFolders::default() })
}

fn request(words: &[&str], most: u32) -> Request {
    let message = |(at, text): (usize, &&str)| match at % 2 {
        0 => Message::user(*text),
        _ => Message::assistant(*text, Vec::new()),
    };
    let messages = words.iter().enumerate().map(message).map(Arc::new).collect();
    Request { model: "tiny".into(), messages, max_output: Some(most), ..Request::default() }
}

async fn ask(provider: &Inside, request: Request) -> (String, Usage, Option<EndReason>, Option<Error>) {
    let (mut text, mut usage, mut end, mut error) = (String::new(), Usage::default(), None, None);
    for delta in provider.stream(request).collect::<Vec<_>>().await {
        match delta {
            Ok(Delta::Text(more)) => text.push_str(&more),
            Ok(Delta::Usage(response)) => usage = response,
            Ok(Delta::End(reason)) => end = Some(reason),
            Ok(_) => {}
            Err(why) => error = Some(why),
        }
    }
    (text, usage, end, error)
}

#[tokio::test]
async fn embedded_models_answer_and_keep_what_they_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for (family, format) in [("llama", 0), ("qwen2", 8), ("qwen3", 0)] {
        let file = put(folder.path(), "tiny.gguf", &model(family, format).bytes());
        let provider = inside(&file);
        let (first, usage, end, error) = ask(&provider, request(&["What is it?"], 24)).await;
        assert_eq!((error, end), (None, Some(EndReason::Length)), "{family}");
        assert_eq!((usage.cache_read, usage.output), (0, 24));
        assert!(!first.is_empty());
        // The next step sends all of it again: only what is new is read.
        let more = request(&["What is it?", &first, "And then?"], 24);
        let (second, again, ..) = ask(&provider, more.clone()).await;
        assert!(again.cache_read >= usage.input - 1 && again.cache_read < again.input, "{again:?}");
        let (fresh, whole, ..) = ask(&inside(&file), more).await;
        assert_eq!((second, whole.cache_read), (fresh, 0), "{family}: kept and fresh differ");
        let listed = provider.models().await.expect("a list");
        assert_eq!((listed[0].name.as_str(), listed[0].facts.window), ("tiny", Some(512)));
    }
}

#[test]
fn embedded_networks_read_the_same_in_any_slices() {
    let folder = tempfile::tempdir().expect("a folder");
    for family in ["llama", "qwen2", "qwen3"] {
        let path = put(folder.path(), "tiny.gguf", &model(family, 0).bytes());
        let header = Header::open(&path, Extent::Whole).expect("a header");
        let load = || Network::load(&path, &header, TOKENS, &|| true).expect("a network").expect("wanted");
        let tokens: Vec<u32> = (0..300).map(|n| n * 31 % 256).collect();
        let whole = load().pass(&tokens).expect("a pass");
        let mut sliced = load();
        let mut last = Vec::new();
        // Some that are forgotten again, then slices of all sizes.
        sliced.pass(&[9; 40]).expect("a pass");
        sliced.keep(0);
        let mut rest = &tokens[..];
        for size in [1, 2, 5, 90, 130, 1, 71] {
            let (slice, after) = rest.split_at(size);
            last = sliced.pass(slice).expect("a pass");
            rest = after;
        }
        assert!(rest.is_empty());
        let apart = whole.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-3, "{family}: {apart}");
        let other = load().pass(&tokens[1..]).expect("a pass");
        assert!(whole.iter().zip(&other).any(|(a, b)| (a - b).abs() > 1e-3), "the place and the past count");
    }
}

#[tokio::test]
async fn embedded_templates_tell_whether_a_model_thinks() {
    let folder = tempfile::tempdir().expect("a folder");
    for (template, efforts) in [("<|im_start|> enable_thinking", Some(2)), ("<|im_start|>", None)] {
        let file =
            put(folder.path(), "tiny.gguf", &model("qwen3", 0).text("tokenizer.chat_template", template).bytes());
        let listed = inside(&file).models().await.expect("a list");
        assert_eq!(listed[0].facts.efforts.as_ref().map(Vec::len), efforts, "{template}");
    }
}

#[test]
fn embedded_headers_take_bounded_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in [0_u32, 8] {
        // A list of 2^34 elements in a file that occupies nothing.
        let bytes = Gguf::default().text("general.architecture", "llama").list("general.tags", kind, 1 << 34);
        let path = put(folder.path(), "tiny.gguf", &bytes);
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
        file.set_len(1 << 37).expect("a sparse file");
        for extent in [Extent::Beginning, Extent::Template, Extent::Whole] {
            let why = Header::open(&path, extent).expect_err("too large");
            assert!(why.contains("more than 256 MiB"), "{why}");
        }
    }
}

#[tokio::test]
async fn embedded_answers_stop_once_the_reader_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = put(folder.path(), "tiny.gguf", &model("qwen2", 0).bytes());
    let provider = inside(&file);
    let mut answer = provider.stream(request(&["long"], 400));
    assert!(matches!(answer.next().await, Some(Ok(Delta::Notice(response))) if response.contains("memory")));
    assert!(answer.next().await.is_some_and(|delta| delta.is_ok()));
    drop(answer);
    let (_, usage, end, _) = ask(&provider, request(&["long"], 2)).await;
    assert_eq!((usage.output, end), (2, Some(EndReason::Length)));
    // The prompt of the answer that was dropped stands, less its last token.
    assert_eq!(usage.cache_read, usage.input - 1);
}

/// Weights are counted as they are held: those of some formats a second time, arranged for the processor.
#[test]
fn the_memory_of_embedded_weights_counts_their_arrangement() {
    let tensor =
        |name: &str, format: u32, bytes: u64| (name.to_string(), Weights { dims: vec![16, 256], format, at: 0, bytes });
    let sizes =
        Sizes { layers: 1, width: 256, heads: 4, shared: 2, head: 64, between: 256, epsilon: 1e-5, window: 512 };
    let memory = |name: &str, format: u32, bytes: u64| {
        sizes.memory(&Header { tensors: [tensor(name, format, bytes)].into(), ..Header::default() }).0
    };
    // 4,096 numbers: as 16-bit ones, in eight bits, in four, in six.
    assert_eq!(memory("blk.0.attn_q.weight", 1, 8_192), 16_384);
    assert_eq!(memory("blk.0.attn_q.weight", 8, 4_352), 4_352 + 4_352);
    assert_eq!(memory("blk.0.attn_q.weight", 12, 2_304), 2_304 + 3_072);
    assert_eq!(memory("blk.0.attn_q.weight", 14, 3_360), 3_360 + 5_120);
    assert_eq!(memory("token_embd.weight", 14, 3_360), 3_360);
}

#[test]
fn embedded_models_are_asked_for_where_no_runtime_runs_yet() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for (bytes, window) in [(model("qwen2", 0).bytes(), Some(512)), (b"not at all".to_vec(), None)] {
        let asked = inside(&put(folder.path(), "tiny.gguf", &bytes)).models();
        let models = runtime.block_on(asked).expect("models");
        assert_eq!(models.iter().map(|model| model.facts.window).collect::<Vec<_>>(), [window]);
    }
}

#[tokio::test]
async fn embedded_files_that_cannot_be_run_say_which_and_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = model("llama", 0).bytes();
    let no_template = {
        let mut file = Gguf::default().text("general.architecture", "llama");
        for (name, value) in
            [("context_length", 64), ("embedding_length", 32), ("feed_forward_length", 8), ("block_count", 1)]
        {
            file = file.number(&format!("llama.{name}"), value);
        }
        file.number("llama.attention.head_count", 4).bytes()
    };
    for (bytes, why) in [
        (b"not at all".to_vec(), "is no GGUF file"),
        (whole[..whole.len() - 9].to_vec(), "is cut short"),
        (whole[..200].to_vec(), "is cut short"),
        (model("gemma", 0).bytes(), "family \"gemma\""),
        (altered("blk.0.attn_norm.weight", &[500, 1, WIDTH]), "a tensor blk.0.attn_norm.weight of [500, 1, 32]"),
        (altered("output_norm.weight", &[1]), "a tensor output_norm.weight of [1] where [32]"),
        (altered("output.weight", &[TOKENS - 1, WIDTH]), "a tensor output.weight of"),
        (altered("blk.1.attn_v.weight", &[0, WIDTH]), "an empty tensor"),
        (sized("attention.head_count", 1 << 20), "its attention.head_count is 1048576"),
        (sized("feed_forward_length", 1 << 30), "its feed_forward_length is 1073741824"),
        (sized("block_count", 1 << 23), "its block_count is 8388608"),
        (no_template, "no chat template"),
        (Gguf::default().text("general.architecture", "llama").bytes(), "does not say its attention.head_count"),
    ] {
        let file = put(folder.path(), "tiny.gguf", &bytes);
        let (text, _, end, error) = ask(&inside(&file), request(&["hi"], 4)).await;
        let error = error.expect("an error");
        assert_eq!((text.as_str(), end, error.kind), ("", None, ErrorKind::Settings));
        assert!(error.message.contains("tiny.gguf") && error.message.contains(why), "{}", error.message);
    }
    let file = put(folder.path(), "tiny.gguf", &whole);
    let (.., error) = ask(&inside(&file), request(&[&"word ".repeat(200)], 4)).await;
    assert_eq!(error.map(|error| (error.kind, error.window())), Some((ErrorKind::ContextTooLong, Some(512))));
    let (.., error) = ask(&inside(&file), Request { model: "other".into(), ..request(&["hi"], 4) }).await;
    assert!(error.is_some_and(|error| error.kind == ErrorKind::NoModel && error.hint.contains("tiny")));
}

#[tokio::test]
async fn embedded_models_are_chosen_by_the_path_of_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = put(folder.path(), "other.gguf", &model("qwen2", 0).bytes());
    let folders = ModelFolders { home: Some(folder.path().into()), ..ModelFolders::default() };
    let configured = put(folder.path(), "tiny.gguf", &model("llama", 0).bytes());
    for folders in [folders.clone(), ModelFolders { file: Some(configured), ..folders }] {
        let provider = Inside::new(folders);
        for name in [file.display().to_string(), "~/other.gguf".into()] {
            let (text, _, end, error) = ask(&provider, Request { model: name.clone(), ..request(&["hi"], 4) }).await;
            assert_eq!((text.is_empty(), end, error), (false, Some(EndReason::Length), None), "{name}");
            assert_eq!(provider.describe(&name).await.window, Some(512));
        }
        let gone = folder.path().join("gone.gguf").display().to_string();
        let (.., error) = ask(&provider, Request { model: gone.clone(), ..request(&["hi"], 4) }).await;
        assert!(error.is_some_and(|error| error.message.contains(&gone)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn embedded_headers_with_broken_bytes_are_errors_or_read(at in 4usize..9_000, byte: u8, cut in 0usize..20_000) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = model("qwen3", 0).bytes();
        let last = bytes.len() - 1;
        bytes[at.min(last)] = byte;
        bytes.truncate(bytes.len() - cut.min(last) / 2);
        let path = put(folder.path(), "tiny.gguf", &bytes);
        if let Ok(header) = Header::open(&path, Extent::Whole)
            && let Ok(Some(mut network)) = Network::load(&path, &header, TOKENS, &|| true)
        {
            let _ = network.pass(&[1, 2, 3]);
        }
    }
}

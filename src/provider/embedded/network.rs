//! The network of a model: its weights as they lie in the file, the keys and values of what it has read, and the pass
//! over the next tokens. One arrangement serves the families llama, qwen2 and qwen3.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor, ggml_file};
use candle_core::{D, DType, Device, Module, Result as TensorResult, Tensor};

use super::gguf::{Header, read_weights};
use super::rotation::{Angles, Rotation, turned};

/// The sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// Blocks, one after the other.
    pub layers: usize,
    /// Numbers that stand for a token between blocks.
    pub width: usize,
    /// Heads that ask.
    pub heads: usize,
    /// Heads that are asked; several that ask share one.
    pub shared: usize,
    /// Numbers of a head.
    pub head: usize,
    /// Numbers that stand for a token inside a block.
    pub between: usize,
    /// Added before a square root, against nought.
    pub epsilon: f64,
    /// Tokens it can read at once.
    pub window: usize,
}

/// A window is never larger: keys and values of more would not fit beside the weights.
const LARGEST_WINDOW: u64 = 16_384;
/// The bytes of a number.
const NUMBER: u64 = 4;
/// Tokens of a prompt that are read at once: between slices it is seen whether somebody still listens. From 32 on the
/// arithmetic arranges the weights once more on processors with matrix tiles: half as much memory again, no faster.
pub const SLICE: usize = 31;
/// Tables of scores that one step of the arithmetic holds at once.
const SCORES: u64 = 4;
/// Blocks, heads, and numbers of a head; no model that runs here has this many.
const MOST: usize = 1 << 10;
/// Numbers that stand for a token.
const WIDEST: usize = 1 << 18;

impl Sizes {
    /// Reads the sizes of a model.
    ///
    /// # Errors
    /// The size that is missing or makes no sense.
    pub fn read(header: &Header) -> Result<Self, String> {
        let size = |name: &str, most: usize| match header.size(name) {
            None => Ok(None),
            Some(size) if (1..=most as u64).contains(&size) => Ok(Some(size as usize)),
            Some(size) => Err(format!("says that its {name} is {size}; 1 to {most} can be run")),
        };
        let need = |name: &str, most| size(name, most)?.ok_or_else(|| format!("does not say its {name}"));
        let (heads, width) = (need("attention.head_count", MOST)?, need("embedding_length", WIDEST)?);
        let shared = size("attention.head_count_kv", MOST)?.unwrap_or(heads);
        let head = size("attention.key_length", MOST)?.unwrap_or(width / heads);
        if !heads.is_multiple_of(shared) || !head.is_multiple_of(2) || !(1..=MOST).contains(&head) {
            return Err(format!("has {heads} heads over {shared} of {head}, which do not fit each other"));
        }
        let (layers, between) = (need("block_count", MOST)?, need("feed_forward_length", WIDEST)?);
        let family = header.family();
        let epsilon = header.float(&format!("{family}.attention.layer_norm_rms_epsilon")).unwrap_or(1e-5);
        Ok(Self { layers, width, heads, shared, head, between, epsilon, window: window(header) as usize })
    }

    /// Returns the memory that a network takes: its weights, as they are in the file and as the arithmetic arranges them
    /// for the processor, and what it needs beside them once the window is full (keys, values and the numbers of one
    /// pass).
    pub fn memory(&self, header: &Header) -> (u64, u64) {
        let weights = header.tensors.iter().map(|(name, weights)| match weights.format {
            // Numbers that are not packed are held as they are reckoned with.
            0 | 1 | 30 => weights.dims.iter().map(|dim| *dim as u64).product::<u64>().saturating_mul(NUMBER),
            8 => weights.bytes.saturating_mul(2),
            12 => weights.bytes.saturating_mul(7) / 3,
            // These are arranged for several tokens at once, which the first and the last matrix never see.
            14 if name.starts_with("blk.") => weights.bytes.saturating_mul(53) / 21,
            _ => weights.bytes,
        });
        // No product overflows: each size has a limit.
        let [layers, width, heads, shared, head, between, window] =
            [self.layers, self.width, self.heads, self.shared, self.head, self.between, self.window].map(|n| n as u64);
        let cached = layers * 2 * shared * head * window;
        let pass = SLICE as u64 * (SCORES * heads * window + 3 * between + 3 * width + 4 * heads * head);
        (weights.fold(0, u64::saturating_add), (cached + pass).saturating_mul(NUMBER))
    }
}

/// Returns the window of a model: that of its file, as far as it was trained for it, and never above the largest.
pub fn window(header: &Header) -> u64 {
    let context_length = header.size("context_length").unwrap_or(2_048);
    let trained = header.size("rope.scaling.original_context_length").unwrap_or(context_length);
    context_length.min(trained.max(1)).min(LARGEST_WINDOW)
}

/// A network and what it has read.
pub struct Network {
    sizes: Sizes,
    embedding: Arc<QTensor>,
    layers: Vec<Layer>,
    norm: Tensor,
    output: QMatMul,
    rotation: Rotation,
    /// The number of tokens its keys and values stand for.
    read: usize,
}

struct Layer {
    norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    joined: QMatMul,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    after_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
    cached: Option<(Tensor, Tensor)>,
}

/// Weights, and the bias that is added to their products.
struct Linear {
    weights: QMatMul,
    bias: Option<Tensor>,
}

impl Linear {
    fn forward(&self, x: &Tensor) -> TensorResult<Tensor> {
        let y = self.weights.forward(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }
}

/// Reads tensors out of a file.
struct Loader<'a> {
    header: &'a Header,
    file: File,
}

impl Loader<'_> {
    /// Returns the tensor of this name, `None` where the file has none.
    fn find(&mut self, name: &str) -> Result<Option<QTensor>, String> {
        let Some(weights) = self.header.tensors.get(name) else { return Ok(None) };
        let format = format_of(weights.format).ok_or_else(|| format!("stores {name} in an unknown format"))?;
        let bytes = read_weights(&mut self.file, weights)?;
        let tensor = ggml_file::qtensor_from_ggml(format, &bytes, weights.dims.clone(), &Device::Cpu);
        tensor.map(Some).map_err(|why| format!("stores {name} in a way that cannot be used: {why}"))
    }

    fn get(&mut self, name: &str, dims: &[usize]) -> Result<QTensor, String> {
        let tensor = self.find(name)?.ok_or_else(|| format!("has no tensor {name}"))?;
        if tensor.shape().dims() != dims {
            return Err(format!("has a tensor {name} of {:?} where {dims:?} is needed", tensor.shape().dims()));
        }
        Ok(tensor)
    }

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<QMatMul, String> {
        let tensor = self.get(name, &[rows, columns])?;
        QMatMul::from_qtensor(tensor).map_err(|why| format!("stores {name} in a way that cannot be used: {why}"))
    }

    /// Returns the numbers of a tensor of one dimension, `None` where the file has none.
    fn vector(&mut self, name: &str, length: usize) -> Result<Option<Tensor>, String> {
        if !self.header.tensors.contains_key(name) {
            return Ok(None);
        }
        let tensor = self.get(name, &[length])?;
        let numbers = tensor.dequantize(&Device::Cpu);
        numbers.map(Some).map_err(|why| format!("stores {name} in a way that cannot be used: {why}"))
    }

    fn norm(&mut self, name: &str, length: usize) -> Result<Tensor, String> {
        self.vector(name, length)?.ok_or_else(|| format!("has no tensor {name}"))
    }

    fn linear(&mut self, name: &str, rows: usize, columns: usize) -> Result<Linear, String> {
        let weights = self.matrix(&format!("{name}.weight"), rows, columns)?;
        Ok(Linear { weights, bias: self.vector(&format!("{name}.bias"), rows)? })
    }

    fn layer(&mut self, number: usize, sizes: &Sizes) -> Result<Layer, String> {
        let name = |part: &str| format!("blk.{number}.{part}");
        let (asking, shared_width) = (sizes.heads * sizes.head, sizes.shared * sizes.head);
        let Sizes { width, between, head, .. } = *sizes;
        Ok(Layer {
            norm: self.norm(&name("attn_norm.weight"), width)?,
            query: self.linear(&name("attn_q"), asking, width)?,
            key: self.linear(&name("attn_k"), shared_width, width)?,
            value: self.linear(&name("attn_v"), shared_width, width)?,
            joined: self.matrix(&name("attn_output.weight"), width, asking)?,
            query_norm: self.vector(&name("attn_q_norm.weight"), head)?,
            key_norm: self.vector(&name("attn_k_norm.weight"), head)?,
            after_norm: self.norm(&name("ffn_norm.weight"), width)?,
            gate: self.matrix(&name("ffn_gate.weight"), between, width)?,
            up: self.matrix(&name("ffn_up.weight"), between, width)?,
            down: self.matrix(&name("ffn_down.weight"), width, between)?,
            cached: None,
        })
    }
}

/// Returns the format of this number in a file.
fn format_of(number: u32) -> Option<GgmlDType> {
    Some(match number {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}

impl Network {
    /// Reads the weights of the file at `path`, of a vocabulary of this many tokens; `None` if they are not `wanted` any
    /// more, which is asked before each block.
    ///
    /// # Errors
    /// What is missing or cannot be used.
    pub fn load(
        path: &Path,
        header: &Header,
        tokens: usize,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, String> {
        let sizes = Sizes::read(header)?;
        let file = File::open(path).map_err(|why| format!("cannot be read: {why}"))?;
        let mut loader = Loader { header, file };
        let embedding = Arc::new(loader.get("token_embd.weight", &[tokens, sizes.width])?);
        // Where the output has no weights of its own it shares those of the embedding.
        let output = match header.tensors.contains_key("output.weight") {
            true => Arc::new(loader.get("output.weight", &[tokens, sizes.width])?),
            false => Arc::clone(&embedding),
        };
        let output = QMatMul::from_arc(output).map_err(|why| format!("has an output that cannot be used: {why}"))?;
        let mut layers = Vec::new();
        for number in 0..sizes.layers {
            if !wanted() {
                return Ok(None);
            }
            layers.push(loader.layer(number, &sizes)?);
        }
        let norm = loader.norm("output_norm.weight", sizes.width)?;
        let divisors = loader.vector("rope_freqs.weight", turned(header, sizes.head) / 2)?;
        let rotation = Rotation::new(header, sizes.head, divisors.as_ref()).map_err(|why| why.to_string())?;
        Ok(Some(Self { sizes, embedding, layers, norm, output, rotation, read: 0 }))
    }

    /// Returns how many tokens fit.
    pub fn window(&self) -> usize {
        self.sizes.window
    }

    /// Forgets all but the first this many tokens.
    pub fn keep(&mut self, tokens: usize) {
        self.read = self.read.min(tokens);
    }

    /// Reads `tokens` after those it has read; the likelihoods of what follows, one number a token of the vocabulary.
    ///
    /// # Errors
    /// Faults of the arithmetic: shapes that do not fit.
    pub fn pass(&mut self, tokens: &[u32]) -> TensorResult<Vec<f32>> {
        let (at, count) = (self.read, tokens.len());
        let mut x = self.embed(tokens)?;
        let angles = self.rotation.at(at, count)?;
        let mask = mask(at, count)?;
        for layer in &mut self.layers {
            let normalised = rms(&x, &layer.norm, self.sizes.epsilon)?;
            let attended = layer.attend(&normalised, (&angles, mask.as_ref()), at, &self.sizes)?;
            x = (x + attended)?;
            let fed = rms(&x, &layer.after_norm, self.sizes.epsilon)?;
            let fed = (layer.gate.forward(&fed)?.silu()? * layer.up.forward(&fed)?)?;
            x = (x + layer.down.forward(&fed)?)?;
        }
        self.read = at + count;
        let last = rms(&x.narrow(0, count - 1, 1)?, &self.norm, self.sizes.epsilon)?;
        self.output.forward(&last)?.flatten_all()?.to_vec1()
    }

    /// Returns the rows of the embedding of these tokens: only they are unpacked.
    fn embed(&self, tokens: &[u32]) -> TensorResult<Tensor> {
        let bytes = self.embedding.data()?;
        let rows = self.embedding.shape().dims()[0];
        let row = bytes.len() / rows;
        let mut picked = Vec::with_capacity(row * tokens.len());
        for token in tokens {
            let at = row * (*token as usize).min(rows - 1);
            picked.extend_from_slice(&bytes[at..at + row]);
        }
        let dims = vec![tokens.len(), self.sizes.width];
        ggml_file::qtensor_from_ggml(self.embedding.dtype(), &picked, dims, &Device::Cpu)?.dequantize(&Device::Cpu)
    }
}

impl Layer {
    /// Returns what each token takes from those before it; keeps the keys and values of the new ones.
    fn attend(
        &mut self,
        x: &Tensor,
        (angles, mask): (&Angles, Option<&Tensor>),
        at: usize,
        sizes: &Sizes,
    ) -> TensorResult<Tensor> {
        let (count, together) = (x.dim(0)?, sizes.heads / sizes.shared);
        let heads = |y: Tensor, heads: usize| y.reshape((count, heads, sizes.head));
        let normed = |y: Tensor, norm: &Option<Tensor>| match norm {
            Some(norm) => rms(&y, norm, sizes.epsilon),
            None => Ok(y),
        };
        let query = angles.turn(&normed(heads(self.query.forward(x)?, sizes.heads)?, &self.query_norm)?)?;
        let key = angles.turn(&normed(heads(self.key.forward(x)?, sizes.shared)?, &self.key_norm)?)?;
        let value = heads(self.value.forward(x)?, sizes.shared)?;
        let (keys, values) = self.keep((&key, &value), at, sizes.window)?;
        let query = query.reshape((count, sizes.shared, together, sizes.head))?.permute((1, 2, 0, 3))?;
        let query = query.contiguous()?.reshape((sizes.shared, together * count, sizes.head))?;
        let scores = (query.matmul(&keys.transpose(1, 2)?)? * (1.0 / (sizes.head as f64).sqrt()))?;
        let scores = match mask {
            Some(mask) => {
                let length = at + count;
                let scores = scores.reshape((sizes.shared, together, count, length))?.broadcast_add(mask)?;
                scores.reshape((sizes.shared, together * count, length))?
            }
            None => scores,
        };
        let taken = softmax(&scores)?.matmul(&values)?;
        let taken = taken.reshape((sizes.shared, together, count, sizes.head))?.permute((2, 0, 1, 3))?;
        self.joined.forward(&taken.contiguous()?.reshape((count, sizes.heads * sizes.head))?)
    }

    /// Writes the keys and values of new tokens behind those of the first `at`; all of them, at most a window.
    fn keep(&mut self, (key, value): (&Tensor, &Tensor), at: usize, window: usize) -> TensorResult<(Tensor, Tensor)> {
        let (count, heads, head) = key.dims3()?;
        let length = at + count;
        let room = self.cached.as_ref().map_or(0, |(keys, _)| keys.dims()[1]);
        if room < length {
            let larger = length.next_power_of_two().max(256).min(window.max(length));
            let grown = |old: Option<&Tensor>| {
                let new = Tensor::zeros((heads, larger, head), DType::F32, &Device::Cpu)?;
                if let Some(old) = old.filter(|_| at > 0) {
                    new.slice_set(&old.narrow(1, 0, at)?.contiguous()?, 1, 0)?;
                }
                TensorResult::Ok(new)
            };
            let (keys, values) = self.cached.as_ref().map_or((None, None), |(keys, values)| (Some(keys), Some(values)));
            self.cached = Some((grown(keys)?, grown(values)?));
        }
        let Some((keys, values)) = &self.cached else { candle_core::bail!("no room for keys") };
        keys.slice_set(&key.transpose(0, 1)?.contiguous()?, 1, at)?;
        values.slice_set(&value.transpose(0, 1)?.contiguous()?, 1, at)?;
        Ok((keys.narrow(1, 0, length)?, values.narrow(1, 0, length)?))
    }
}

/// Scales each row to the same size.
fn rms(x: &Tensor, weights: &Tensor, epsilon: f64) -> TensorResult<Tensor> {
    let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
    x.broadcast_div(&(mean + epsilon)?.sqrt()?)?.broadcast_mul(weights)
}

fn softmax(x: &Tensor) -> TensorResult<Tensor> {
    let raised = x.broadcast_sub(&x.max_keepdim(D::Minus1)?)?.exp()?;
    raised.broadcast_div(&raised.sum_keepdim(D::Minus1)?)
}

/// Keeps each of several tokens from those that follow it; one alone needs none.
fn mask(at: usize, count: usize) -> TensorResult<Option<Tensor>> {
    if count == 1 {
        return Ok(None);
    }
    let length = at + count;
    let hidden = |row: usize| (0..length).map(move |column| if column > at + row { f32::NEG_INFINITY } else { 0.0 });
    let numbers: Vec<f32> = (0..count).flat_map(hidden).collect();
    Tensor::from_vec(numbers, (count, length), &Device::Cpu).map(Some)
}

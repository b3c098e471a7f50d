//! Rotary position encoding: pairs of numbers of a head are turned by an angle that grows with the place.

use candle_core::{D, Device, Result as TensorResult, Tensor};

use super::gguf::Header;

/// The angles of a model.
pub struct Rotation {
    /// The angle by which a place turns each pair.
    steps: Vec<f64>,
    /// The pairs are neighbours; else a number stands with the one half a head away.
    neighbours: bool,
}

/// The angles of the places of one pass.
pub struct Angles {
    cosines: Tensor,
    sines: Tensor,
    neighbours: bool,
}

/// Returns the number of values of a head that are turned, an even number.
pub fn turned(header: &Header, head: usize) -> usize {
    header.size("rope.dimension_count").map_or(head, |turned| (turned as usize).min(head)) / 2 * 2
}

impl Rotation {
    /// Reads the angles of a model with heads of this many numbers.
    ///
    /// # Errors
    /// When the divisors of the angles are no numbers.
    pub fn new(header: &Header, head: usize, divisors: Option<&Tensor>) -> TensorResult<Self> {
        let family = header.family();
        let base = header.float(&format!("{family}.rope.freq_base")).filter(|base| *base > 0.0).unwrap_or(10_000.0);
        let turned = turned(header, head);
        let linear = header.text(&format!("{family}.rope.scaling.type")) == Some("linear");
        let factor = header.float(&format!("{family}.rope.scaling.factor")).filter(|factor| linear && *factor > 0.0);
        let divisors = divisors.map(Tensor::to_vec1::<f32>).transpose()?.unwrap_or_default();
        let step = |pair: usize| {
            let step = base.powf(-2.0 * pair as f64 / turned as f64) / factor.unwrap_or(1.0);
            step / divisors.get(pair).map_or(1.0, |divisor| f64::from(*divisor))
        };
        Ok(Self { steps: (0..turned / 2).map(step).collect(), neighbours: family == "llama" })
    }

    /// Returns the angles of `count` tokens from place `at`.
    ///
    /// # Errors
    /// Faults of the arithmetic.
    pub fn at(&self, at: usize, count: usize) -> TensorResult<Angles> {
        let angles = |place: usize| self.steps.iter().map(move |step| (place as f64 * step) as f32);
        let angles: Vec<f32> = (at..at + count).flat_map(angles).collect();
        let angles = Tensor::from_vec(angles, (count, 1, self.steps.len()), &Device::Cpu)?;
        Ok(Angles { cosines: angles.cos()?, sines: angles.sin()?, neighbours: self.neighbours })
    }
}

impl Angles {
    /// Turns the heads of each token: `tokens × heads × numbers`.
    ///
    /// # Errors
    /// Faults of the arithmetic.
    pub fn turn(&self, heads: &Tensor) -> TensorResult<Tensor> {
        let (count, number, head) = heads.dims3()?;
        let pairs = self.cosines.dim(2)?;
        let turned = heads.narrow(2, 0, 2 * pairs)?;
        let (a, b) = match self.neighbours {
            true => {
                let paired = turned.reshape((count, number, pairs, 2))?;
                (paired.narrow(3, 0, 1)?.squeeze(3)?, paired.narrow(3, 1, 1)?.squeeze(3)?)
            }
            false => (turned.narrow(2, 0, pairs)?, turned.narrow(2, pairs, pairs)?),
        };
        let first = (a.broadcast_mul(&self.cosines)? - b.broadcast_mul(&self.sines)?)?;
        let second = (b.broadcast_mul(&self.cosines)? + a.broadcast_mul(&self.sines)?)?;
        let turned = match self.neighbours {
            true => Tensor::stack(&[first, second], 3)?.reshape((count, number, 2 * pairs))?,
            false => Tensor::cat(&[first, second], 2)?,
        };
        match head - 2 * pairs {
            0 => Ok(turned),
            rest => Tensor::cat(&[&turned, &heads.narrow(D::Minus1, 2 * pairs, rest)?], 2),
        }
    }
}

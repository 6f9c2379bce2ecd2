//! Uniform scalar quantisation of a vector's components, and the dot product of a
//! query with the codes.
//!
//! A vector is kept as `offset + scale × level` per component, with one scale and
//! one offset for all of them, so a code needs no training. The query is rounded to
//! 16 bits, and the product is summed in integers.

use super::kernel;

/// Bits that one component takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bits {
    /// Four components a byte.
    Two,
    /// Two components a byte.
    Four,
    /// One component a byte.
    Eight,
}

impl Bits {
    /// Bytes that a vector's codes take.
    pub const fn width(self, dimension: usize) -> usize {
        match self {
            Self::Two => dimension.div_ceil(4),
            Self::Four => dimension.div_ceil(2),
            Self::Eight => dimension,
        }
    }

    const fn highest_level(self) -> u8 {
        match self {
            Self::Two => 3,
            Self::Four => 15,
            Self::Eight => 255,
        }
    }

    /// Where in a byte the levels of each plane stand.
    const fn shifts(self) -> &'static [u32] {
        match self {
            Self::Two => &[0, 2, 4, 6],
            Self::Four => &[0, 4],
            Self::Eight => &[0],
        }
    }

    /// The shares of the full range of values that are tried as the range of codes.
    const fn clips(self) -> &'static [f32] {
        match self {
            Self::Two => &[0.62, 0.52, 0.44],
            Self::Four => &[1.0, 0.86, 0.74],
            Self::Eight => &[1.0],
        }
    }
}

/// How levels turn back into components.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) scale: f32,
    pub(super) offset: f32,
}

impl Line {
    pub(super) fn value(self, level: u8) -> f32 {
        self.offset + self.scale * f32::from(level)
    }
}

/// Works out codes; keeps its buffers from one vector to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Quantiser {
    levels: Vec<u8>,
    tried: Vec<u8>,
}

impl Quantiser {
    /// The levels of `values` and the line that brings them back with the least
    /// squared error among the ranges tried.
    pub(super) fn fit(&mut self, values: &[f32], bits: Bits) -> (&[u8], Line) {
        let count = values.len().max(1) as f32;
        let mean = values.iter().sum::<f32>() / count;
        let (lowest, highest) = values
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        let top = f32::from(bits.highest_level());
        let mut best: Option<(f32, Line)> = None;
        for clip in bits.clips() {
            let low = mean + (lowest - mean) * clip;
            let step = (highest - lowest) * clip / top;
            if !(step.is_normal() && low.is_finite()) {
                continue;
            }
            let (line, gain) = self.round(
                values,
                Line {
                    scale: step,
                    offset: low,
                },
                top,
            );
            if gain.is_finite() && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, line));
                std::mem::swap(&mut self.levels, &mut self.tried);
            }
        }
        if let Some((_, line)) = best {
            return (&self.levels, line);
        }
        self.levels.clear();
        self.levels.resize(values.len(), 0);
        let offset = if mean.is_finite() { mean } else { 0.0 };
        (&self.levels, Line { scale: 0.0, offset })
    }

    /// Rounds into `tried`. Returns the least-squares line through the rounded
    /// levels and how much of the variance it explains.
    fn round(&mut self, values: &[f32], grid: Line, top: f32) -> (Line, f32) {
        let inverse = grid.scale.recip();
        self.tried.clear();
        self.tried.extend(values.iter().map(|value| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to 0..=255 on this line"
            )]
            let level = ((value - grid.offset) * inverse + 0.5).clamp(0.0, top) as u8;
            level
        }));
        let (sum, squares) = self
            .tried
            .iter()
            .fold((0_u64, 0_u64), |(sum, squares), level| {
                let level = u64::from(*level);
                (sum + level, squares + level * level)
            });
        let values_sum: f32 = values.iter().sum();
        let products = sum_products(values, &self.tried);
        let count = values.len().max(1) as f64;
        let (sum, squares) = (sum as f64, squares as f64);
        let spread = squares - sum * sum / count;
        let shared = f64::from(products) - sum * f64::from(values_sum) / count;
        if spread <= 0.0 {
            return (grid, f32::NEG_INFINITY);
        }
        let scale = shared / spread;
        let offset = (f64::from(values_sum) - scale * sum) / count;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "scale and offset lie within the range of the values"
        )]
        let line = Line {
            scale: scale as f32,
            offset: offset as f32,
        };
        #[expect(clippy::cast_possible_truncation, reason = "compared, not kept")]
        let gain = (shared * scale) as f32;
        (line, gain)
    }
}

fn sum_products(values: &[f32], levels: &[u8]) -> f32 {
    let ((values, values_rest), (levels, levels_rest)) =
        (values.as_chunks::<16>(), levels.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (values, levels) in values.iter().zip(levels) {
        for ((sum, value), level) in sums.iter_mut().zip(values).zip(levels) {
            *sum += value * f32::from(*level);
        }
    }
    let rest: f32 = values_rest
        .iter()
        .zip(levels_rest)
        .map(|(value, level)| value * f32::from(*level))
        .sum();
    sums.iter().sum::<f32>() + rest
}

/// Appends levels as codes. A byte holds components that are a whole plane apart: with
/// 4 bits, byte *j* holds component *j* in its low half and component *j* + plane in
/// its high half, where a plane is ⌈dimension / 2⌉ components; with 2 bits, four of
/// ⌈dimension / 4⌉.
pub(super) fn pack(levels: &[u8], bits: Bits, out: &mut Vec<u8>) {
    let plane = bits.width(levels.len());
    let start = out.len();
    out.resize(start + plane, 0);
    let codes = out.get_mut(start..).unwrap_or_default();
    for (levels, shift) in levels.chunks(plane.max(1)).zip(bits.shifts()) {
        for (code, level) in codes.iter_mut().zip(levels) {
            *code |= level << shift;
        }
    }
}

/// Writes the components that codes stand for.
pub(super) fn unpack(codes: &[u8], bits: Bits, line: Line, out: &mut [f32]) {
    let plane = bits.width(out.len());
    for (values, shift) in out.chunks_mut(plane.max(1)).zip(bits.shifts()) {
        for (value, code) in values.iter_mut().zip(codes) {
            *value = line.value((code >> shift) & bits.highest_level());
        }
    }
}

/// A query's vector, made ready for dot products with codes of any width.
#[derive(Debug, Clone)]
pub struct PreparedQuery {
    /// Rounded components, then zeros up to a multiple of four.
    rounded: Vec<i16>,
    dimension: usize,
    /// What a unit of `rounded` stands for.
    unit: f32,
    /// The sum of the components.
    sum: f32,
}

impl PreparedQuery {
    /// Makes a vector of unit length ready; the zero vector scores 0 everywhere.
    pub fn new(vector: &[f32]) -> Self {
        let (largest, total) = vector
            .iter()
            .fold((0.0_f64, 0.0_f64), |(largest, total), x| {
                let size = f64::from(x.abs());
                (largest.max(size), total + size)
            });
        // No sum of products may leave i32, whatever the codes are.
        let factor = (f64::from(i16::MAX) / largest)
            .min((f64::from(i32::MAX) / 255.0 - vector.len() as f64) / total);
        let factor = if factor.is_finite() && factor > 0.0 {
            factor
        } else {
            0.0
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the factor keeps every component within i16"
        )]
        let mut rounded: Vec<i16> = vector
            .iter()
            .map(|x| (f64::from(*x) * factor).round() as i16)
            .collect();
        rounded.resize(rounded.len().next_multiple_of(4), 0);
        #[expect(clippy::cast_possible_truncation, reason = "f32 is precise enough")]
        let unit = if factor > 0.0 {
            factor.recip() as f32
        } else {
            0.0
        };
        let sum = vector.iter().sum::<f32>();
        Self {
            rounded,
            dimension: vector.len(),
            unit,
            sum: if sum.is_finite() { sum } else { 0.0 },
        }
    }

    /// Components.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The dot product with the vector that the codes and the line stand for.
    pub(super) fn dot(&self, codes: &[u8], bits: Bits, line: Line) -> f32 {
        let plane = bits.width(self.dimension);
        let mut planes = self.rounded.chunks(plane.max(1));
        let mut next = || planes.next().unwrap_or_default();
        let product = match bits {
            Bits::Two => kernel::crumbs([next(), next(), next(), next()], codes),
            Bits::Four => kernel::nibbles([next(), next()], codes),
            Bits::Eight => kernel::bytes(next(), codes),
        };
        line.offset * self.sum + line.scale * (self.unit * product as f32)
    }
}

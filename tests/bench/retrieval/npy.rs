//! Reads NumPy's array format, version 1: row-major `float32` of two dimensions.

use crate::Outcome;

/// The rows.
pub fn rows(bytes: &[u8]) -> Outcome<Vec<Vec<f32>>> {
    let length = bytes.get(8..10).ok_or("npy: no header")?;
    let start = 10 + usize::from(u16::from_le_bytes(length.try_into()?));
    let header = String::from_utf8_lossy(bytes.get(10..start).ok_or("npy: a short header")?);
    if !header.contains("'<f4'") || !header.contains("'fortran_order': False") {
        return Err(format!("npy: {header} is not row-major float32").into());
    }
    let shape = header
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .ok_or("npy: no shape")?
        .0;
    let width: usize = shape
        .split(',')
        .nth(1)
        .ok_or("npy: not two dimensions")?
        .trim()
        .parse()?;
    let values: Vec<f32> = bytes
        .get(start..)
        .unwrap_or_default()
        .chunks_exact(4)
        .filter_map(|value| value.try_into().ok().map(f32::from_le_bytes))
        .collect();
    Ok(values.chunks_exact(width).map(<[f32]>::to_vec).collect())
}

//! Reading the benchmark's data: lines of JSON, and vectors as `NumPy` stores them.

use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

/// One text.
#[derive(Debug, Deserialize)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) scope: String,
    #[serde(default)]
    pub(crate) permille: i64,
}

/// Texts, a line each.
pub(crate) fn texts(path: &Path) -> Result<Vec<Text>, Box<dyn Error>> {
    let file = BufReader::new(std::fs::File::open(path)?);
    file.lines()
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect()
}

/// Rows of a little-endian float32 `.npy`, read one by one.
pub(crate) struct Rows {
    file: BufReader<std::fs::File>,
    columns: usize,
}

impl Rows {
    /// Opens the file and reads its header.
    pub(crate) fn open(path: &Path, columns: usize) -> Result<Self, Box<dyn Error>> {
        let mut file = BufReader::new(std::fs::File::open(path)?);
        let mut start = [0; 10];
        file.read_exact(&mut start)?;
        let length = u16::from_le_bytes([start[8], start[9]]);
        let mut header = vec![0; usize::from(length)];
        file.read_exact(&mut header)?;
        let header = String::from_utf8_lossy(&header).into_owned();
        if !header.contains("<f4") || !header.contains("'fortran_order': False") {
            return Err(format!("not rows of float32: {header}").into());
        }
        Ok(Self { file, columns })
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Vec<f32>, Box<dyn Error>> {
        let mut bytes = vec![0; self.columns * size_of::<f32>()];
        self.file.read_exact(&mut bytes)?;
        let (values, _) = bytes.as_chunks::<4>();
        Ok(values
            .iter()
            .map(|value| f32::from_le_bytes(*value))
            .collect())
    }
}

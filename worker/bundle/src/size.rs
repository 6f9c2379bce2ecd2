//! How large a bundle is as it is uploaded. Compressed bytes are what the platform limits, and
//! raw bytes are what an isolate has to compile at start, so both are told.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::BundleError;

/// Sum over all files of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BundleSize {
    /// Bytes on disk.
    pub(crate) raw_bytes: u64,
    /// Bytes after gzip at its default level, each file by itself.
    pub(crate) gzip_bytes: u64,
}

impl BundleSize {
    /// Measures a folder and all that is below it.
    pub(crate) fn of_folder(folder: &Path) -> Result<Self, BundleError> {
        let mut size = Self::default();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let failed = |source| BundleError::File {
                action: "measure",
                path: folder.clone(),
                source,
            };
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                if entry.file_type().map_err(failed)?.is_dir() {
                    folders.push(entry.path());
                } else {
                    let content = fs::read(entry.path()).map_err(failed)?;
                    size.add(&content).map_err(failed)?;
                }
            }
        }
        Ok(size)
    }

    /// Fails when the compressed size is over the budget.
    pub(crate) fn within(self, budget_bytes: u64) -> Result<(), BundleError> {
        if self.gzip_bytes > budget_bytes {
            return Err(BundleError::OverBudget {
                gzip_bytes: self.gzip_bytes,
                budget_bytes,
            });
        }
        Ok(())
    }

    fn add(&mut self, content: &[u8]) -> io::Result<()> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(content)?;
        self.raw_bytes += bytes(content.len());
        self.gzip_bytes += bytes(gzip.finish()?.len());
        Ok(())
    }
}

/// A number of bytes for people.
pub(crate) fn kib(bytes: u64) -> String {
    format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024)
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_over_its_budget_is_refused_and_one_at_its_budget_is_not() {
        let size = BundleSize {
            raw_bytes: 9,
            gzip_bytes: 5,
        };
        assert!(size.within(5).is_ok());
        assert!(matches!(
            size.within(4),
            Err(BundleError::OverBudget {
                gzip_bytes: 5,
                budget_bytes: 4
            })
        ));
    }

    #[test]
    fn sizes_add_up_over_files() {
        let mut size = BundleSize::default();
        size.add(&[0; 4096]).unwrap();
        let one = size;
        size.add(&[0; 4096]).unwrap();
        assert_eq!(size.raw_bytes, 8192);
        assert_eq!(size.gzip_bytes, 2 * one.gzip_bytes);
        assert!(one.gzip_bytes < 100, "zeros compress");
    }

    #[test]
    fn bytes_are_written_for_people() {
        assert_eq!(kib(0), "0.0 KiB");
        assert_eq!(kib(1536), "1.5 KiB");
        assert_eq!(kib(3 * 1024 * 1024), "3072.0 KiB");
    }
}

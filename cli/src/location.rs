//! Where a store lies, parsed from what a user or a client's settings file says:
//! a folder in any spelling, or a bucket. It is separate so that each spelling
//! has a test on every platform; it must not touch the disk or the network.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::environment::Platform;

/// A folder or a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket of an S3-compatible server, and what every key starts with.
    S3 {
        /// The bucket.
        bucket: String,
        /// The prefix without slashes at its ends; empty for the whole bucket.
        prefix: String,
    },
}

/// What may stand in `--store`, for messages.
pub(crate) const ACCEPTED: &str = "use a folder (./memory, /srv/memory, C:\\memory), file:///srv/memory, s3://bucket or s3://bucket/prefix";

/// A text that names no store.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum LocationError {
    /// Nothing at all.
    #[error("the store is empty")]
    Empty,
    /// A URL of something we cannot write to.
    #[error("the store {given:?} has the scheme {scheme:?}, which is not supported")]
    Scheme {
        /// What was given.
        given: String,
        /// Its scheme.
        scheme: String,
    },
    /// A path with a drive letter on a system without drives.
    #[error("the store {given:?} is a Windows path, and this system is not Windows")]
    Drive {
        /// What was given.
        given: String,
    },
    /// A `file:` URL on another machine.
    #[error("the store {given:?} is on another host: a file URL needs three slashes")]
    Host {
        /// What was given.
        given: String,
    },
    /// Percent-encoding that decodes to no text.
    #[error("the store {given:?} does not decode to UTF-8")]
    Encoding {
        /// What was given.
        given: String,
    },
    /// `~` where the home folder is unknown.
    #[error("the store {given:?} starts with ~, but no home folder is known")]
    NoHome {
        /// What was given.
        given: String,
    },
    /// An S3 location without a usable bucket name.
    #[error("the store {given:?} has no valid bucket name")]
    Bucket {
        /// What was given.
        given: String,
    },
    /// An S3 prefix that no key could carry.
    #[error("the store {given:?} has a prefix with an empty, `.` or `..` part, or a `?` or `#`")]
    Prefix {
        /// What was given.
        given: String,
    },
}

impl LocationError {
    /// The way out.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Scheme { scheme, .. } if scheme == "r2" || scheme.starts_with("http") => {
                format!("{ACCEPTED}; the server's address goes into AWS_ENDPOINT")
            }
            Self::Drive { .. } => format!(
                "{ACCEPTED}; a folder that is really called so can be given as a file URL with %25 for %"
            ),
            _ => ACCEPTED.to_owned(),
        }
    }
}

impl StoreLocation {
    /// Understands `given` as `platform` would, with `home` for `~`.
    pub(crate) fn parse(
        given: &OsStr,
        platform: Platform,
        home: Option<&Path>,
    ) -> Result<Self, LocationError> {
        let Some(text) = given.to_str() else {
            return Ok(Self::Folder(PathBuf::from(given)));
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(LocationError::Empty);
        }
        match split_scheme(text) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
                file_url(text, rest, platform)
            }
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("s3") => s3_url(text, rest),
            Some((scheme, _)) => Err(LocationError::Scheme {
                given: text.to_owned(),
                scheme: scheme.to_ascii_lowercase(),
            }),
            None => folder(text, platform, home),
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::S3 { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::S3 { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}

/// The scheme and the rest after its colon. One letter is a drive, not a scheme;
/// without `//` only the schemes that we know count, as file names hold colons too.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let named = scheme.len() > 1
        && bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let known = scheme.eq_ignore_ascii_case("file") || scheme.eq_ignore_ascii_case("s3");
    (named && (known || rest.starts_with("//"))).then_some((scheme, rest))
}

fn file_url(given: &str, rest: &str, platform: Platform) -> Result<StoreLocation, LocationError> {
    let path = match rest.strip_prefix("//") {
        Some(after) => {
            let (host, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(LocationError::Host {
                    given: given.to_owned(),
                });
            }
            path
        }
        None => rest,
    };
    if !path.starts_with('/') {
        return Err(LocationError::Host {
            given: given.to_owned(),
        });
    }
    let decoded = decode(given, path)?;
    match drive(&decoded, &[":"]) {
        Some(path) => drive_folder(given, &path, platform),
        None => Ok(StoreLocation::Folder(PathBuf::from(decoded))),
    }
}

fn folder(
    text: &str,
    platform: Platform,
    home: Option<&Path>,
) -> Result<StoreLocation, LocationError> {
    if let Some(path) = drive(text, &[":", "%3A", "%3a"]) {
        // Editors on Windows send a drive as `/d%3A/…`. Nothing else is decoded, as a
        // plain path may hold a percent sign.
        let plain = text.get(1..2) == Some(":");
        let path = if plain { path } else { decode(text, &path)? };
        return drive_folder(text, &path, platform);
    }
    let below_home = match text.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(['/', '\\']),
        None => None,
    };
    match (below_home, home) {
        (Some(rest), Some(home)) => Ok(StoreLocation::Folder(home.join(rest))),
        (Some(_), None) => Err(LocationError::NoHome {
            given: text.to_owned(),
        }),
        (None, _) => Ok(StoreLocation::Folder(PathBuf::from(text))),
    }
}

/// The path from its drive letter on, as `d:/work`, if it has one; `colons` are the
/// spellings of what follows the letter.
fn drive(text: &str, colons: &[&str]) -> Option<String> {
    let bare = text.strip_prefix('/').unwrap_or(text);
    let mut characters = bare.chars();
    let letter = characters.next().filter(char::is_ascii_alphabetic)?;
    let after = characters.as_str();
    let rest = colons.iter().find_map(|colon| after.strip_prefix(colon))?;
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| format!("{letter}:{rest}"))
}

fn drive_folder(
    given: &str,
    path: &str,
    platform: Platform,
) -> Result<StoreLocation, LocationError> {
    match platform {
        Platform::Windows => Ok(StoreLocation::Folder(PathBuf::from(
            path.replace('/', "\\"),
        ))),
        Platform::Mac | Platform::Unix => Err(LocationError::Drive {
            given: given.to_owned(),
        }),
    }
}

fn s3_url(given: &str, rest: &str) -> Result<StoreLocation, LocationError> {
    let named = rest.strip_prefix("//").unwrap_or_default();
    let (bucket, prefix) = named.split_once('/').unwrap_or((named, ""));
    let valid = !bucket.is_empty()
        && bucket
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    if !valid {
        return Err(LocationError::Bucket {
            given: given.to_owned(),
        });
    }
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let usable = prefix.is_empty()
        || prefix
            .split('/')
            .all(|part| !matches!(part, "" | "." | "..") && !part.contains(['?', '#']));
    if !usable {
        return Err(LocationError::Prefix {
            given: given.to_owned(),
        });
    }
    Ok(StoreLocation::S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
    })
}

fn decode(given: &str, path: &str) -> Result<String, LocationError> {
    percent_decode_str(path)
        .decode_utf8()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| LocationError::Encoding {
            given: given.to_owned(),
        })
}

#[cfg(test)]
mod tests;

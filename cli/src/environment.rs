//! What the binary takes from its environment besides the `OSTRACA_…` variables that
//! clap reads next to their flags: how to reach a bucket, secrets that must not be
//! flags, and where a user's data lies. It is the only reader of the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use ostraca_service::environment::{self as service, S3Settings};

/// The family of the operating system, as far as folders and paths differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Platform {
    /// Linux and the rest of Unix.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one this binary runs on.
    pub(crate) fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Mac
        } else {
            Self::Unix
        }
    }
}

/// A lookup of variables: the process, or a table in a test.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// A variable that holds something unusable.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum EnvironmentError {
    /// Not text.
    #[error("the variable {name} is not valid UTF-8")]
    NotText {
        /// Its name.
        name: String,
    },
    /// A secret that is wanted by name and not there.
    #[error("the variable {name} is not set")]
    Missing {
        /// Its name.
        name: String,
    },
}

/// How to reach the bucket `store`, which a flag named: the standard variables, as
/// every service of ours reads them.
pub(crate) fn s3(lookup: Lookup<'_>, store: &str) -> Result<S3Settings, service::EnvironmentError> {
    let named = |name: &str| match name {
        "OSTRACA_STORE" => Some(store.to_owned()),
        _ => lookup(name)?.into_string().ok(),
    };
    let settings = service::Environment::new(&named).s3()?;
    settings.ok_or(service::EnvironmentError::Missing("OSTRACA_STORE"))
}

/// Where the data of this user lies if no store is named: `ostraca` in the folder
/// that the platform keeps for data of programs.
pub(crate) fn default_folder(platform: Platform, lookup: Lookup<'_>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(lookup(name)?);
        path.is_absolute().then_some(path)
    };
    let base = match platform {
        Platform::Windows => path(lookup, "APPDATA")
            .or_else(|| Some(path(lookup, "USERPROFILE")?.join("AppData").join("Roaming"))),
        Platform::Mac => Some(
            absolute("HOME")?
                .join("Library")
                .join("Application Support"),
        ),
        Platform::Unix => absolute("XDG_DATA_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local").join("share"))),
    };
    base.map(|base| base.join("ostraca"))
}

/// The home folder of this user, for paths that start with `~`.
pub(crate) fn home(platform: Platform, lookup: Lookup<'_>) -> Option<PathBuf> {
    match platform {
        Platform::Windows => path(lookup, "USERPROFILE"),
        Platform::Mac | Platform::Unix => path(lookup, "HOME"),
    }
}

/// A secret that the user keeps in a variable of their choice.
pub(crate) fn secret(lookup: Lookup<'_>, name: &str) -> Result<String, EnvironmentError> {
    text(lookup, name)?.ok_or_else(|| EnvironmentError::Missing {
        name: name.to_owned(),
    })
}

/// The key of the embedding endpoint: a variable alone, since other users of a
/// machine can read flags.
pub(crate) fn embed_api_key(lookup: Lookup<'_>) -> Result<Option<String>, EnvironmentError> {
    text(lookup, "OSTRACA_EMBED_API_KEY")
}

/// The variables of this process.
#[expect(clippy::disallowed_methods, reason = "this file is the only reader")]
pub(crate) fn process(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// An empty variable counts as absent, as shells and container files set them so.
fn text(lookup: Lookup<'_>, name: &str) -> Result<Option<String>, EnvironmentError> {
    lookup(name)
        .filter(|value| !value.is_empty())
        .map(|value| {
            value.into_string().map_err(|_| EnvironmentError::NotText {
                name: name.to_owned(),
            })
        })
        .transpose()
}

fn path(lookup: Lookup<'_>, name: &str) -> Option<PathBuf> {
    lookup(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        move |wanted| {
            pairs
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, value)| OsString::from(value))
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_default_folder_follows_the_platform() {
        let unix = table(&[
            ("HOME", "/home/jörg"),
            ("APPDATA", "C:\\Users\\Jörg\\AppData\\Roaming"),
        ]);
        let xdg = table(&[("HOME", "/home/j"), ("XDG_DATA_HOME", "/data")]);
        let relative = table(&[("HOME", "/home/j"), ("XDG_DATA_HOME", "data")]);
        let folder = |platform, lookup: Lookup<'_>| default_folder(platform, lookup).unwrap();

        assert_eq!(
            folder(Platform::Unix, &unix),
            PathBuf::from("/home/jörg/.local/share/ostraca")
        );
        assert_eq!(folder(Platform::Unix, &xdg), PathBuf::from("/data/ostraca"));
        assert_eq!(
            folder(Platform::Unix, &relative),
            PathBuf::from("/home/j/.local/share/ostraca")
        );
        assert_eq!(
            folder(Platform::Mac, &unix),
            PathBuf::from("/home/jörg/Library/Application Support/ostraca")
        );
        assert!(folder(Platform::Windows, &unix).starts_with("C:\\Users\\Jörg\\AppData\\Roaming"));
        assert_eq!(default_folder(Platform::Unix, &table(&[])), None);
    }
}

//! The settings of a service that has no command line, from variables under the names
//! that the local binary uses too. It is pure: the edge brings the lookup, because a
//! process and a Worker keep their variables in different places.

use std::fmt;
use std::time::Duration;

use ostraca_memory::TenantId;
use ostraca_memory::embed::EmbedderSettings;

use crate::app::AuthMode;

const DEFAULT_TENANT: &str = "default";
const DEFAULT_REGION: &str = "us-east-1";

/// A variable that is missing or holds something unusable. Secrets are never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// It has to be there.
    #[error("the variable {0} is not set")]
    Missing(&'static str),
    /// It has another form.
    #[error("the variable {name} is {value:?}; it has to be {accepted}")]
    Invalid {
        /// Its name.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        accepted: &'static str,
    },
}

/// A bucket and how to reach it.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Settings {
    /// `OSTRACA_STORE`: its bucket.
    pub bucket: String,
    /// `OSTRACA_STORE`: what every key starts with; empty for the whole bucket.
    pub prefix: String,
    /// `AWS_ENDPOINT` or `AWS_ENDPOINT_URL`: a server that is not Amazon's.
    pub endpoint: Option<String>,
    /// `AWS_REGION` or `AWS_DEFAULT_REGION`.
    pub region: String,
    /// `AWS_ACCESS_KEY_ID`.
    pub access_key_id: String,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret_access_key: String,
    /// `AWS_SESSION_TOKEN`.
    pub session_token: Option<String>,
    /// `AWS_ALLOW_HTTP`: whether the endpoint may be reached without TLS.
    pub allow_http: bool,
}

impl fmt::Debug for S3Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Settings")
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("allow_http", &self.allow_http)
            .finish_non_exhaustive()
    }
}

/// Variables, wherever they are kept.
pub struct Environment<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl<'a> Environment<'a> {
    /// Variables behind a lookup. An empty one counts as absent.
    pub fn new(lookup: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { lookup }
    }

    /// Who may call: `OSTRACA_AUTH`, and `OSTRACA_TENANT` if it is `none`. What has no
    /// command line is public, so everybody may only if the settings say so.
    ///
    /// # Errors
    /// Another value, or a tenant with an invalid name.
    pub fn auth(&self) -> Result<AuthMode, EnvironmentError> {
        match self.text("OSTRACA_AUTH").as_deref() {
            None | Some("keys") => Ok(AuthMode::Keys),
            Some("none") => {
                let tenant = self
                    .text("OSTRACA_TENANT")
                    .unwrap_or_else(|| DEFAULT_TENANT.to_owned());
                match tenant.parse::<TenantId>() {
                    Ok(tenant) => Ok(AuthMode::Open { tenant }),
                    Err(_) => Err(EnvironmentError::Invalid {
                        name: "OSTRACA_TENANT",
                        value: tenant,
                        accepted: "the name of a tenant, such as `default`",
                    }),
                }
            }
            Some(other) => Err(EnvironmentError::Invalid {
                name: "OSTRACA_AUTH",
                value: other.to_owned(),
                accepted: "`keys` or `none`",
            }),
        }
    }

    /// `OSTRACA_PUBLIC_URL`: the origin that clients use, if requests do not tell it.
    pub fn public_url(&self) -> Option<String> {
        self.text("OSTRACA_PUBLIC_URL")
    }

    /// Where texts become vectors: `OSTRACA_EMBED_URL`, `OSTRACA_EMBED_MODEL`,
    /// `OSTRACA_EMBED_DIMENSIONS`, `OSTRACA_EMBED_TIMEOUT` and `OSTRACA_EMBED_API_KEY`.
    /// None without a URL.
    ///
    /// # Errors
    /// A URL without a model, dimensions that are no number, a time limit that is none.
    pub fn embedder(&self) -> Result<Option<EmbedderSettings>, EnvironmentError> {
        let Some(url) = self.text("OSTRACA_EMBED_URL") else {
            return Ok(None);
        };
        let model = self.required("OSTRACA_EMBED_MODEL")?;
        let dimensions = match self.text("OSTRACA_EMBED_DIMENSIONS") {
            None => None,
            Some(count) => Some(count.parse().map_err(|_| EnvironmentError::Invalid {
                name: "OSTRACA_EMBED_DIMENSIONS",
                value: count,
                accepted: "a whole number",
            })?),
        };
        let defaults = EmbedderSettings::new(url, model);
        Ok(Some(EmbedderSettings {
            dimensions,
            api_key: self.text("OSTRACA_EMBED_API_KEY"),
            timeout: self
                .duration("OSTRACA_EMBED_TIMEOUT")?
                .unwrap_or(defaults.timeout),
            ..defaults
        }))
    }

    /// `OSTRACA_HORIZON`: how long objects stay that nobody needs any more. None leaves the
    /// default; every process on one store must be told the same.
    ///
    /// # Errors
    /// What is no duration.
    pub fn horizon(&self) -> Result<Option<Duration>, EnvironmentError> {
        self.duration("OSTRACA_HORIZON")
    }

    /// The bucket that `OSTRACA_STORE` names as `s3://bucket/prefix`, and the standard
    /// variables of S3. None without `OSTRACA_STORE`.
    ///
    /// # Errors
    /// Another kind of store, or missing credentials.
    pub fn s3(&self) -> Result<Option<S3Settings>, EnvironmentError> {
        let Some(store) = self.text("OSTRACA_STORE") else {
            return Ok(None);
        };
        let location = store.strip_prefix("s3://").unwrap_or_default();
        let (bucket, prefix) = location.split_once('/').unwrap_or((location, ""));
        if bucket.is_empty() {
            return Err(EnvironmentError::Invalid {
                name: "OSTRACA_STORE",
                value: store,
                accepted: "`s3://bucket` or `s3://bucket/prefix`",
            });
        }
        Ok(Some(S3Settings {
            bucket: bucket.to_owned(),
            prefix: prefix.trim_end_matches('/').to_owned(),
            endpoint: self
                .text("AWS_ENDPOINT")
                .or_else(|| self.text("AWS_ENDPOINT_URL")),
            region: self
                .text("AWS_REGION")
                .or_else(|| self.text("AWS_DEFAULT_REGION"))
                .unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            access_key_id: self.required("AWS_ACCESS_KEY_ID")?,
            secret_access_key: self.required("AWS_SECRET_ACCESS_KEY")?,
            session_token: self.text("AWS_SESSION_TOKEN"),
            allow_http: self.boolean("AWS_ALLOW_HTTP")?,
        }))
    }

    fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    fn required(&self, name: &'static str) -> Result<String, EnvironmentError> {
        self.text(name).ok_or(EnvironmentError::Missing(name))
    }

    fn duration(&self, name: &'static str) -> Result<Option<Duration>, EnvironmentError> {
        let Some(value) = self.text(name) else {
            return Ok(None);
        };
        let parsed: Option<jiff::SignedDuration> = value.trim().parse().ok();
        match parsed.and_then(|parsed| Duration::try_from(parsed).ok()) {
            Some(duration) if !duration.is_zero() => Ok(Some(duration)),
            _ => Err(EnvironmentError::Invalid {
                name,
                value,
                accepted: "a number and a unit, such as `4s` or `500ms`",
            }),
        }
    }

    fn boolean(&self, name: &'static str) -> Result<bool, EnvironmentError> {
        let Some(value) = self.text(name) else {
            return Ok(false);
        };
        match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err(EnvironmentError::Invalid {
                name,
                value,
                accepted: "`true` or `false`",
            }),
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method's lifetimes do not fit the closure's"
)]
mod tests {
    use super::*;

    fn with<T>(pairs: &[(&str, &str)], read: impl FnOnce(&Environment<'_>) -> T) -> T {
        let lookup = |wanted: &str| {
            pairs
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, value)| (*value).to_owned())
        };
        read(&Environment::new(&lookup))
    }

    const CREDENTIALS: [(&str, &str); 2] = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "hush"),
    ];

    fn s3(pairs: &[(&str, &str)]) -> Result<Option<S3Settings>, EnvironmentError> {
        let all: Vec<_> = pairs.iter().chain(&CREDENTIALS).copied().collect();
        with(&all, |environment| environment.s3())
    }

    #[test]
    fn nobody_gets_in_unless_a_variable_says_so() {
        let auth = |pairs: &[(&str, &str)]| with(pairs, |environment| environment.auth());
        assert!(matches!(auth(&[]), Ok(AuthMode::Keys)));
        assert!(matches!(auth(&[("OSTRACA_AUTH", "")]), Ok(AuthMode::Keys)));
        assert!(
            matches!(auth(&[("OSTRACA_AUTH", "none")]), Ok(AuthMode::Open { tenant }) if tenant.to_string() == "default")
        );
        assert!(
            auth(&[("OSTRACA_AUTH", "None")]).is_err(),
            "a misspelt mode must not be guessed"
        );
        assert!(auth(&[("OSTRACA_AUTH", "none"), ("OSTRACA_TENANT", "a/b")]).is_err());
    }

    #[test]
    fn a_store_is_a_bucket_with_or_without_a_prefix() {
        let place = |store| {
            s3(&[("OSTRACA_STORE", store)]).map(|found| found.map(|s3| (s3.bucket, s3.prefix)))
        };
        let at = |bucket: &str, prefix: &str| Ok(Some((bucket.to_owned(), prefix.to_owned())));
        assert_eq!(place("s3://jar"), at("jar", ""));
        assert_eq!(place("s3://jar/"), at("jar", ""));
        assert_eq!(place("s3://jar/deep/er/"), at("jar", "deep/er"));
        assert_eq!(place(""), Ok(None));
        for wrong in ["jar", "s3://", "s3:///deep", "file:///jar", "r2://jar"] {
            assert!(
                matches!(
                    place(wrong),
                    Err(EnvironmentError::Invalid {
                        name: "OSTRACA_STORE",
                        ..
                    })
                ),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_bucket_needs_credentials_and_says_which_are_missing() {
        let missing = with(
            &[("OSTRACA_STORE", "s3://jar"), ("AWS_ACCESS_KEY_ID", "AKID")],
            |environment| environment.s3(),
        );
        assert_eq!(
            missing,
            Err(EnvironmentError::Missing("AWS_SECRET_ACCESS_KEY"))
        );
    }

    #[test]
    fn the_standard_names_have_their_usual_order() {
        let both = s3(&[
            ("OSTRACA_STORE", "s3://jar"),
            ("AWS_ENDPOINT_URL", "https://second.example"),
            ("AWS_ENDPOINT", "https://first.example"),
            ("AWS_DEFAULT_REGION", "auto"),
            ("AWS_ALLOW_HTTP", "TRUE"),
        ])
        .unwrap()
        .unwrap();
        assert_eq!(both.endpoint.as_deref(), Some("https://first.example"));
        assert_eq!(both.region, "auto");
        assert!(both.allow_http);
        assert!(s3(&[("OSTRACA_STORE", "s3://jar"), ("AWS_ALLOW_HTTP", "maybe")]).is_err());
    }

    #[test]
    fn secrets_are_not_in_the_debug_form() {
        let shown = format!(
            "{:?}",
            s3(&[("OSTRACA_STORE", "s3://jar"), ("AWS_SESSION_TOKEN", "hush")]).unwrap()
        );
        assert!(
            !shown.contains("hush") && !shown.contains("AKID"),
            "{shown}"
        );
    }

    #[test]
    fn a_horizon_is_a_duration_or_left_alone() {
        let horizon = |value| with(&[("OSTRACA_HORIZON", value)], |e| e.horizon());
        assert_eq!(horizon(""), Ok(None));
        assert_eq!(horizon("2h"), Ok(Some(Duration::from_hours(2))));
        for wrong in ["0s", "3600", "-1h", "later"] {
            assert!(horizon(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_embedder_has_a_url_and_a_model() {
        let embedder = |pairs: &[(&str, &str)]| with(pairs, |environment| environment.embedder());
        assert!(embedder(&[("OSTRACA_EMBED_MODEL", "m")]).unwrap().is_none());
        assert_eq!(
            embedder(&[("OSTRACA_EMBED_URL", "http://e/v1")]).unwrap_err(),
            EnvironmentError::Missing("OSTRACA_EMBED_MODEL")
        );
        let settings = embedder(&[
            ("OSTRACA_EMBED_URL", "http://e/v1"),
            ("OSTRACA_EMBED_MODEL", "m"),
            ("OSTRACA_EMBED_DIMENSIONS", "384"),
            ("OSTRACA_EMBED_TIMEOUT", "1500ms"),
        ])
        .unwrap()
        .unwrap();
        assert_eq!(
            (
                settings.model.as_str(),
                settings.dimensions,
                settings.timeout
            ),
            ("m", Some(384), Duration::from_millis(1500))
        );
        for wrong in ["4", "0s", "-1s", "soon"] {
            let wrong = [
                ("OSTRACA_EMBED_URL", "http://e/v1"),
                ("OSTRACA_EMBED_MODEL", "m"),
                ("OSTRACA_EMBED_TIMEOUT", wrong),
            ];
            assert!(embedder(&wrong).is_err(), "{wrong:?}");
        }
    }
}

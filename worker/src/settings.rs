//! What the Worker takes from its variables and secrets, under the names that the local
//! binary uses. It is the only reader of `Env` besides the bucket binding; nothing of a
//! secret is ever printed.

use worker::Env;

/// A variable that is missing or holds something unusable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("the variable {0} is not set: add it to [vars] or as a secret")]
    Missing(&'static str),
    #[error("the variable {name} is {value:?}: it must be {accepted}")]
    Invalid {
        name: &'static str,
        value: String,
        accepted: &'static str,
    },
}

/// How to reach an S3 endpoint.
pub(crate) struct S3Settings {
    pub(crate) bucket: String,
    /// What every key starts with; empty for the whole bucket.
    pub(crate) folder: String,
    pub(crate) endpoint: Option<String>,
    pub(crate) region: String,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) session_token: Option<String>,
    pub(crate) allow_http: bool,
}

impl S3Settings {
    /// The bucket that `OSTRACA_STORE` names; none means the R2 binding.
    pub(crate) fn read(env: &Env) -> Result<Option<Self>, SettingsError> {
        let Some(store) = text(env, "OSTRACA_STORE") else {
            return Ok(None);
        };
        let location = store.strip_prefix("s3://").unwrap_or_default();
        let (bucket, folder) = location.split_once('/').unwrap_or((location, ""));
        if bucket.is_empty() {
            return Err(SettingsError::Invalid {
                name: "OSTRACA_STORE",
                value: store,
                accepted: "s3://bucket or s3://bucket/prefix, or unset for the R2 bucket",
            });
        }
        Ok(Some(Self {
            bucket: bucket.to_owned(),
            folder: folder.trim_end_matches('/').to_owned(),
            endpoint: text(env, "AWS_ENDPOINT").or_else(|| text(env, "AWS_ENDPOINT_URL")),
            region: text(env, "AWS_REGION")
                .or_else(|| text(env, "AWS_DEFAULT_REGION"))
                .unwrap_or_else(|| "us-east-1".to_owned()),
            access_key_id: required(env, "AWS_ACCESS_KEY_ID")?,
            secret_access_key: required(env, "AWS_SECRET_ACCESS_KEY")?,
            session_token: text(env, "AWS_SESSION_TOKEN"),
            allow_http: boolean(env, "AWS_ALLOW_HTTP")?,
        }))
    }
}

/// A variable or secret; an empty one counts as absent.
fn text(env: &Env, name: &str) -> Option<String> {
    let value = env.var(name).ok()?.to_string();
    (!value.is_empty()).then_some(value)
}

fn required(env: &Env, name: &'static str) -> Result<String, SettingsError> {
    text(env, name).ok_or(SettingsError::Missing(name))
}

fn boolean(env: &Env, name: &'static str) -> Result<bool, SettingsError> {
    match text(env, name) {
        None => Ok(false),
        Some(value) => match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err(SettingsError::Invalid {
                name,
                value,
                accepted: "true or false",
            }),
        },
    }
}

//! A store in an S3-compatible bucket. `object_store` speaks the protocol; this
//! file turns off what would break the log (its blind retries) and puts our own
//! retries around it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::client::ClientOptions;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};

use crate::decorator::retry::{RetryPolicy, RetryStore};
use crate::port::{Clock, Ids};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the bucket is and how to get in.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct S3Settings {
    /// The bucket's name.
    pub bucket: String,
    /// Everything lies below this folder of the bucket; empty for the whole bucket.
    pub prefix: String,
    /// The endpoint's URL, if it is not AWS. Requests to it name the bucket in the path.
    pub endpoint: Option<String>,
    /// The region; `auto` for R2.
    pub region: String,
    /// The access key, if it does not come from the instance's role.
    pub access_key_id: Option<String>,
    /// Its secret.
    pub secret_access_key: Option<String>,
    /// The session token of temporary credentials.
    pub session_token: Option<String>,
    /// Whether the endpoint may be without TLS.
    pub transport: Transport,
    /// How long a request may take, in milliseconds; 0 for 30,000.
    pub timeout_ms: u64,
}

/// Whether an endpoint may be without TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// HTTPS only.
    #[default]
    Tls,
    /// HTTP too, for servers on the same machine.
    PlainAllowed,
}

impl fmt::Debug for S3Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Settings")
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("access_key_id", &self.access_key_id)
            .field("transport", &self.transport)
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}

/// The settings do not describe a bucket.
#[derive(Debug, thiserror::Error)]
pub enum S3Error {
    /// The bucket has no name.
    #[error("the bucket has no name: set it")]
    NoBucket,
    /// Only half of a pair of credentials is there.
    #[error("of the access key id and the secret access key only one is set: set both or neither")]
    HalfCredentials,
    /// `object_store` refused the settings.
    #[error("the settings of bucket {bucket} are not valid")]
    Invalid {
        /// The bucket.
        bucket: String,
        /// Why.
        #[source]
        source: object_store::Error,
    },
}

/// Opens the bucket as a store. No request goes out yet.
///
/// # Errors
///
/// See [`S3Error`].
pub fn open(
    settings: &S3Settings,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
) -> Result<Arc<dyn ObjectStore>, S3Error> {
    if settings.bucket.is_empty() {
        return Err(S3Error::NoBucket);
    }
    let timeout = Duration::from_millis(match settings.timeout_ms {
        0 => 30_000,
        millis => millis,
    });
    let no_retries = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 0,
        retry_timeout: timeout,
    };
    let client = ClientOptions::new()
        .with_timeout(timeout)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_allow_http(settings.transport == Transport::PlainAllowed);
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&settings.bucket)
        .with_region(&settings.region)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_client_options(client)
        .with_retry(no_retries);
    if let Some(endpoint) = &settings.endpoint {
        builder = builder
            .with_endpoint(endpoint)
            .with_virtual_hosted_style_request(false);
    }
    match (&settings.access_key_id, &settings.secret_access_key) {
        (Some(id), Some(secret)) => {
            builder = builder
                .with_access_key_id(id)
                .with_secret_access_key(secret);
        }
        (None, None) => {}
        _ => return Err(S3Error::HalfCredentials),
    }
    if let Some(token) = &settings.session_token {
        builder = builder.with_token(token);
    }
    let bucket = builder.build().map_err(|source| S3Error::Invalid {
        bucket: settings.bucket.clone(),
        source,
    })?;
    let whole: Arc<dyn ObjectStore> = if settings.prefix.is_empty() {
        Arc::new(bucket)
    } else {
        Arc::new(PrefixStore::new(
            bucket,
            Path::from(settings.prefix.as_str()),
        ))
    };
    Ok(Arc::new(RetryStore::new(
        whole,
        clock,
        ids,
        RetryPolicy::default(),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CountingIds, VirtualClock};

    fn open_with(change: impl FnOnce(&mut S3Settings)) -> Result<Arc<dyn ObjectStore>, S3Error> {
        let mut settings = S3Settings {
            bucket: "b".to_owned(),
            region: "auto".to_owned(),
            ..S3Settings::default()
        };
        change(&mut settings);
        open(
            &settings,
            VirtualClock::new(),
            Arc::new(CountingIds::default()),
        )
    }

    #[test]
    fn settings_that_make_no_bucket_are_refused_with_the_way_out() {
        let no_bucket = open_with(|s| s.bucket.clear()).unwrap_err();
        assert!(matches!(no_bucket, S3Error::NoBucket));
        let half = open_with(|s| s.access_key_id = Some("id".to_owned())).unwrap_err();
        assert!(matches!(half, S3Error::HalfCredentials));
    }

    #[test]
    fn secrets_are_not_printed() {
        let settings = S3Settings {
            secret_access_key: Some("hidden-1".to_owned()),
            session_token: Some("hidden-2".to_owned()),
            ..S3Settings::default()
        };
        assert!(!format!("{settings:?}").contains("hidden"));
    }

    #[test]
    fn retries_stand_outside_the_prefix() {
        let store = open_with(|s| s.prefix = "some/where".to_owned()).unwrap();
        assert!(
            store
                .to_string()
                .starts_with("RetryStore(PrefixObjectStore"),
            "{store}"
        );
    }
}

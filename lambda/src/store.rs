//! The bucket of the function. It must not retry anything: whoever writes conditionally
//! has to see every answer, and what may be repeated, the layer above repeats.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, Result, RetryConfig};
use ostraca_service::environment::S3Settings;

/// An environment sleeps between two requests, and its connections die meanwhile. Old ones
/// are not worth the failed request.
const IDLE_CONNECTION: Duration = Duration::from_secs(10);

/// Opens a bucket, or a prefix of one.
pub(crate) fn open(settings: S3Settings) -> Result<Arc<dyn ObjectStore>> {
    let client = ClientOptions::new()
        .with_pool_idle_timeout(IDLE_CONNECTION)
        .with_allow_http(settings.allow_http);
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(settings.bucket)
        .with_region(settings.region)
        .with_access_key_id(settings.access_key_id)
        .with_secret_access_key(settings.secret_access_key)
        .with_client_options(client)
        .with_retry(RetryConfig {
            max_retries: 0,
            ..RetryConfig::default()
        });
    if let Some(endpoint) = settings.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(token) = settings.session_token {
        builder = builder.with_token(token);
    }
    let bucket = builder.build()?;
    Ok(if settings.prefix.is_empty() {
        Arc::new(bucket)
    } else {
        Arc::new(PrefixStore::new(bucket, settings.prefix))
    })
}

//! Any S3 endpoint from inside a Worker: `object_store`'s own client over `fetch`, with
//! signatures from pure Rust. Its retries stay off, for they would repeat conditional
//! writes and sleep on a timer that does not exist here.

use std::sync::Arc;

use hmac::{Hmac, Mac};
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, Signer, SigningAlgorithm,
};
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectStore, Result, RetryConfig};
use ostraca_service::environment::S3Settings;
use sha2::{Digest, Sha256};

use crate::fetch::WorkerFetch;

/// Opens a bucket, or a folder of one.
pub(crate) fn open(settings: S3Settings) -> Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(settings.bucket)
        .with_region(settings.region)
        .with_access_key_id(settings.access_key_id)
        .with_secret_access_key(settings.secret_access_key)
        .with_allow_http(settings.allow_http)
        .with_http_connector(WorkerFetch)
        .with_crypto_provider(Arc::new(RustCrypto))
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

#[derive(Debug)]
struct RustCrypto;

fn unsupported() -> Error {
    Error::NotSupported {
        source: "only SHA-256 digests and HMACs are signed here".into(),
    }
}

impl CryptoProvider for RustCrypto {
    fn digest(&self, algorithm: DigestAlgorithm) -> Result<Box<dyn DigestContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => Ok(Box::new(Sum::new(Sha256::new()))),
            _ => Err(unsupported()),
        }
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8]) -> Result<Box<dyn HmacContext>> {
        let mac = Hmac::<Sha256>::new_from_slice(secret).map_err(|source| Error::Generic {
            store: "S3",
            source: Box::new(source),
        })?;
        match algorithm {
            DigestAlgorithm::Sha256 => Ok(Box::new(Sum::new(mac))),
            _ => Err(unsupported()),
        }
    }

    fn sign(&self, _algorithm: SigningAlgorithm, _pem: &[u8]) -> Result<Box<dyn Signer>> {
        Err(unsupported())
    }
}

/// A running digest or HMAC and, once finished, its bytes.
struct Sum<T> {
    running: T,
    finished: Vec<u8>,
}

impl<T> Sum<T> {
    fn new(running: T) -> Self {
        Self {
            running,
            finished: Vec::new(),
        }
    }
}

impl DigestContext for Sum<Sha256> {
    fn update(&mut self, data: &[u8]) {
        Digest::update(&mut self.running, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.finished = self.running.clone().finalize().to_vec();
        Ok(&self.finished)
    }
}

impl HmacContext for Sum<Hmac<Sha256>> {
    fn update(&mut self, data: &[u8]) {
        Mac::update(&mut self.running, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.finished = self.running.clone().finalize().into_bytes().to_vec();
        Ok(&self.finished)
    }
}

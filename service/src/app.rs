//! What one running service is made of: the database, who may call it, and how it is
//! reached. An edge builds this value from its settings; nothing here reads the
//! environment, and nothing in it changes after it was built.

use std::sync::Arc;

use ostraca_memory::{Database, TenantId};

use crate::exposure::Exposure;

/// How callers are told apart.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AuthMode {
    /// Nobody signs in: every caller may do everything in one tenant. For loopback.
    Open {
        /// The tenant that every caller works in.
        tenant: TenantId,
    },
    /// Every call carries an API key as a bearer token.
    Keys,
}

/// The bounds and addresses of a service.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// Under which names and from which pages it may be reached.
    pub exposure: Exposure,
    /// The largest request body, in bytes.
    pub max_body_bytes: usize,
    /// The issuers of OAuth tokens for this resource, as their own metadata spells them.
    /// Empty while the service is reached with API keys only.
    pub authorization_servers: Vec<String>,
}

impl Default for ServiceSettings {
    /// Loopback only, 4 MiB bodies, no OAuth.
    fn default() -> Self {
        Self {
            exposure: Exposure::Loopback,
            max_body_bytes: 4 * 1024 * 1024,
            authorization_servers: Vec::new(),
        }
    }
}

/// A running service, shared by all requests.
#[derive(Debug)]
pub struct App {
    /// Where memories live.
    pub database: Arc<Database>,
    /// How callers are told apart.
    pub auth: AuthMode,
    /// The origin that clients use, such as `https://memory.example.com`. Without it the
    /// origin is taken from each request.
    pub public_url: Option<String>,
    /// The version that the service reports.
    pub version: String,
    /// Its bounds and addresses.
    pub settings: ServiceSettings,
}

impl App {
    /// The service at an address that anybody can reach, with its bounds at their defaults.
    pub fn public(database: Arc<Database>, auth: AuthMode, public_url: Option<String>) -> Self {
        let exposure = Exposure::Public {
            hosts: Vec::new(),
            origins: Vec::new(),
        };
        Self {
            database,
            auth,
            public_url,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: ServiceSettings {
                exposure,
                ..ServiceSettings::default()
            },
        }
    }
}

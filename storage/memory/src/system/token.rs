//! The text of an API key: a prefix that secret scanners can know, the tenant, the
//! key's id, and the secret, of which storage holds the digest alone.

use std::fmt::Write as _;

use ostraca_object::key::TenantId;
use sha2::{Digest as _, Sha256};

/// The prefix of every API key.
pub const PREFIX: &str = "osk_";

/// An API key taken apart.
#[derive(Clone)]
pub struct Token {
    /// The tenant that it opens.
    pub tenant: TenantId,
    /// The key's id.
    pub id: String,
    secret: String,
}

impl Token {
    /// A key from 256 random bits.
    pub fn new(tenant: TenantId, id: String, random: [u128; 2]) -> Self {
        let [high, low] = random;
        Self {
            tenant,
            id,
            secret: format!("{high:032x}{low:032x}"),
        }
    }

    /// Takes a text apart; `None` if it cannot be one of our keys.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(PREFIX)?.split('_');
        let (tenant, id, secret) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = |part: &str, length: usize| {
            part.len() == length
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        if parts.next().is_some() || !plain(id, 26) || !plain(secret, 64) {
            return None;
        }
        Some(Self {
            tenant: tenant.parse().ok()?,
            id: id.to_owned(),
            secret: secret.to_owned(),
        })
    }

    /// The whole text, to be shown once.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}_{}_{}", self.tenant, self.id, self.secret)
    }

    /// What storage holds of the secret. The secret has 256 random bits, so a plain
    /// digest cannot be searched and needs no salt.
    pub fn digest(&self) -> String {
        let digest: [u8; 32] = Sha256::digest(self.secret.as_bytes()).into();
        digest
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                // Writing into a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            })
    }

    /// Whether a stored digest is of this secret, in time that tells nothing.
    pub fn matches(&self, stored: &str) -> bool {
        let own = self.digest();
        own.len() == stored.len()
            && own
                .bytes()
                .zip(stored.bytes())
                .fold(0, |differs, (a, b)| differs | (a ^ b))
                == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("tenant", &self.tenant)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "the texts are ASCII")]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_text_and_nothing_else_does() {
        let token = Token::new("acme".parse().unwrap(), "0".repeat(26), [7, 9]);
        let text = token.expose();
        let back = Token::parse(&text).unwrap();
        assert!(back.matches(&token.digest()));
        assert!(!format!("{back:?}").contains(&text[text.len() - 20..]));
        for wrong in [
            "",
            "osk_",
            "osk_acme",
            &text[..text.len() - 1],
            &format!("{text}0"),
            &text.to_uppercase(),
            &text.replace("acme", "../x"),
        ] {
            assert!(Token::parse(wrong).is_none(), "{wrong}");
        }
        let other = Token::new("acme".parse().unwrap(), "0".repeat(26), [7, 10]);
        assert!(!other.matches(&token.digest()));
    }
}

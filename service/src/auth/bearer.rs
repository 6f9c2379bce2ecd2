//! The `Authorization: Bearer` header. It is the only place where a token is looked
//! for; a token in the query string would end up in logs.

use http::{HeaderMap, header};

/// What the header holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bearer<'a> {
    /// There is no such header.
    Absent,
    /// There is one, but no bearer token in it.
    Malformed,
    /// The token, as it was sent.
    Token(&'a str),
}

/// The bearer token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Bearer<'_> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return if headers.contains_key(header::AUTHORIZATION) {
            Bearer::Malformed
        } else {
            Bearer::Absent
        };
    };
    let Some((scheme, token)) = value
        .to_str()
        .ok()
        .and_then(|value| value.trim().split_once(' '))
    else {
        return Bearer::Malformed;
    };
    let token = token.trim();
    let visible = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if scheme.eq_ignore_ascii_case("bearer") && visible {
        Bearer::Token(token)
    } else {
        Bearer::Malformed
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_one_bearer_token_counts() {
        let with = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
            }
            headers
        };
        assert_eq!(token(&with(&[])), Bearer::Absent);
        assert_eq!(token(&with(&["Bearer abc"])), Bearer::Token("abc"));
        assert_eq!(token(&with(&["bearer   abc "])), Bearer::Token("abc"));
        for bad in ["Bearer", "Bearer ", "Basic abc", "abc", "Bearer a b", ""] {
            assert_eq!(token(&with(&[bad])), Bearer::Malformed, "{bad}");
        }
        assert_eq!(token(&with(&["Bearer a", "Bearer b"])), Bearer::Malformed);
    }
}

//! The variables and secrets of a Worker, as the lookup that the service's settings are
//! read from. It is the only reader of `Env` besides the bucket binding.

use worker::Env;
use worker::js_sys::Reflect;

/// A variable or secret as text. wrangler.toml may hold numbers and booleans, and they
/// arrive as such.
pub(crate) fn variable(env: &Env, name: &str) -> Option<String> {
    let value = Reflect::get(env, &name.into()).ok()?;
    value
        .as_string()
        .or_else(|| Some(value.as_f64()?.to_string()))
        .or_else(|| Some(value.as_bool()?.to_string()))
}

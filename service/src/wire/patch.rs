//! A field of an update on the wire: absent, null and a value are three things.
//! Separate from the domain's patch because only here does JSON's null exist.

use std::borrow::Cow;

use ostraca_memory as domain;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

/// What an update says about one field. Use it with `#[serde(default)]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Patch<T> {
    /// The field is absent and stays as it is.
    #[default]
    Keep,
    /// The field is null and is removed.
    Clear,
    /// The field gets this value.
    Set(T),
}

impl<T> Patch<T> {
    /// The domain's patch, its value translated.
    ///
    /// # Errors
    /// Those of the translation.
    pub(super) fn try_map<U, E>(
        self,
        translate: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<domain::Patch<U>, E> {
        Ok(match self {
            Self::Keep => domain::Patch::Keep,
            Self::Clear => domain::Patch::Clear,
            Self::Set(value) => domain::Patch::Set(translate(value)?),
        })
    }
}

impl<T> From<Patch<T>> for domain::Patch<T> {
    fn from(patch: Patch<T>) -> Self {
        match patch {
            Patch::Keep => Self::Keep,
            Patch::Clear => Self::Clear,
            Patch::Set(value) => Self::Set(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

//! Which tools a request sees: the read-only endpoint, the `X-MCP-…` headers and the
//! caller's permissions. The same selection filters the list and guards the calls, so
//! that what is hidden cannot be called either.

use std::collections::BTreeSet;

use http::HeaderMap;
use ostraca_memory::{Caller, Permission};
use rmcp::model::CacheScope;

use crate::mcp::standard_headers::text;
use crate::mcp::tools::{Tool, Tools};

/// What an endpoint offers at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Reachable {
    /// Every tool.
    #[default]
    Everything,
    /// Tools that change nothing.
    Reads,
}

/// The tools that one request may see.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    reachable: Reachable,
    only: Option<BTreeSet<String>>,
    except: BTreeSet<String>,
    by_header: bool,
}

/// A header that names a tool which does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{header} names {name:?}, which is no tool of this server")]
pub(crate) struct UnknownTool {
    header: &'static str,
    name: String,
}

impl Selection {
    /// The selection of an HTTP request.
    ///
    /// # Errors
    /// A name that is no tool: dropping it in silence would look like a lost tool.
    pub(crate) fn of_request(
        endpoint: Reachable,
        headers: &HeaderMap,
        tools: &Tools,
    ) -> Result<Self, UnknownTool> {
        let readonly = text(headers, "x-mcp-readonly").is_some_and(truthy);
        let only = names(headers, "X-MCP-Tools", tools)?;
        let except = names(headers, "X-MCP-Exclude-Tools", tools)?;
        Ok(Self {
            reachable: if readonly { Reachable::Reads } else { endpoint },
            by_header: readonly || only.is_some() || except.is_some(),
            only,
            except: except.unwrap_or_default(),
        })
    }

    /// Whether the request may use a tool, whoever calls. Read-only wins over an
    /// explicit wish, and exclusion over inclusion.
    pub(crate) fn offers(&self, tool: &Tool) -> bool {
        let name = tool.name();
        (self.reachable == Reachable::Everything || tool.permission() == Permission::Read)
            && self.only.as_ref().is_none_or(|only| only.contains(name))
            && !self.except.contains(name)
    }

    /// Whether the caller sees a tool.
    pub(crate) fn shows(&self, tool: &Tool, caller: &Caller) -> bool {
        self.offers(tool) && caller.may(tool.permission())
    }

    /// Whether the list may be cached for others: it may when only the URL shaped it.
    pub(crate) fn cache_scope(&self, tools: &Tools, caller: &Caller) -> CacheScope {
        let by_caller = tools.iter().any(|tool| !caller.may(tool.permission()));
        if self.by_header || by_caller {
            CacheScope::Private
        } else {
            CacheScope::Public
        }
    }
}

/// Anything counts as true but the usual words for no.
fn truthy(value: &str) -> bool {
    !matches!(
        value.to_ascii_lowercase().as_str(),
        "" | "false" | "f" | "no" | "n" | "0" | "off"
    )
}

/// The comma-separated names of a header; `None` when it is absent or empty.
fn names(
    headers: &HeaderMap,
    header: &'static str,
    tools: &Tools,
) -> Result<Option<BTreeSet<String>>, UnknownTool> {
    let mut found = BTreeSet::new();
    for value in headers.get_all(header) {
        // Names are ASCII; what cannot be read is no name of ours.
        let value = String::from_utf8_lossy(value.as_bytes());
        for name in value
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            if tools.find(name).is_none() {
                return Err(UnknownTool {
                    header,
                    name: name.to_owned(),
                });
            }
            found.insert(name.to_owned());
        }
    }
    Ok((!found.is_empty()).then_some(found))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use ostraca_memory::TenantId;

    use super::*;

    fn visible(endpoint: Reachable, headers: &[(&'static str, &'static str)]) -> Vec<String> {
        let tools = Tools::new();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let selection = Selection::of_request(endpoint, &map, &tools).unwrap();
        tools
            .iter()
            .filter(|tool| selection.offers(tool))
            .map(|tool| tool.name().to_owned())
            .collect()
    }

    #[test]
    fn read_only_wins_and_exclusion_beats_inclusion() {
        let everything = visible(Reachable::Everything, &[]);
        let reads = visible(Reachable::Reads, &[]);
        assert!(
            everything.contains(&"remember".to_owned()) && !reads.contains(&"remember".to_owned())
        );
        assert_eq!(
            visible(Reachable::Everything, &[("x-mcp-readonly", "1")]),
            reads
        );
        assert_eq!(
            visible(Reachable::Everything, &[("x-mcp-readonly", "off")]),
            everything
        );
        assert_eq!(
            visible(Reachable::Reads, &[("x-mcp-readonly", "false")]),
            reads
        );
        assert_eq!(
            visible(Reachable::Reads, &[("x-mcp-tools", "remember, recall")]),
            ["recall"]
        );
        assert_eq!(
            visible(
                Reachable::Everything,
                &[
                    ("x-mcp-tools", "get,recall"),
                    ("x-mcp-exclude-tools", "get")
                ]
            ),
            ["recall"]
        );
    }

    #[test]
    fn an_unknown_tool_is_named() {
        let mut headers = HeaderMap::new();
        headers.insert("x-mcp-tools", HeaderValue::from_static("recall,recal"));
        let error =
            Selection::of_request(Reachable::Everything, &headers, &Tools::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "X-MCP-Tools names \"recal\", which is no tool of this server"
        );
    }

    #[test]
    fn only_the_url_keeps_a_list_public() {
        let tools = Tools::new();
        let all = Caller::unrestricted("t".parse::<TenantId>().unwrap());
        let mut reader = all.clone();
        reader.permissions = [Permission::Read].into();
        let plain = Selection::of_request(Reachable::Reads, &HeaderMap::new(), &tools).unwrap();
        assert_eq!(plain.cache_scope(&tools, &all), CacheScope::Public);
        assert_eq!(plain.cache_scope(&tools, &reader), CacheScope::Private);
        let mut headers = HeaderMap::new();
        headers.insert("x-mcp-readonly", HeaderValue::from_static("yes"));
        let narrowed = Selection::of_request(Reachable::Everything, &headers, &tools).unwrap();
        assert_eq!(narrowed.cache_scope(&tools, &all), CacheScope::Private);
    }
}

//! The MCP server: what rmcp calls for each method. It holds what is the same for
//! every request (tools, identity) and takes who asks from the request's view.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer, ServerHandler};

#[cfg(feature = "conformance")]
use crate::mcp::conformance;
use crate::mcp::dispatch::View;
use crate::mcp::era::ADVERTISED;
use crate::mcp::instructions::INSTRUCTIONS;
use crate::mcp::tools::Tools;
use crate::mcp::{prompts, resources};

/// How long lists may be cached, in milliseconds: they change with a deployment.
const LIST_TTL_MS: u64 = 3_600_000;

/// The server behind every MCP endpoint.
#[derive(Debug)]
pub(crate) struct MemoryServer {
    tools: Tools,
    identity: Implementation,
    peer: Option<Peer<RoleServer>>,
}

impl MemoryServer {
    /// A server that reports a version.
    pub(crate) fn new(version: &str) -> Self {
        let peer = crate::mcp::peer::inert()
            .inspect_err(|error| tracing::error!("MCP cannot be served: {error}"))
            .ok();
        let identity = Implementation::new("ostraca", version)
            .with_title("Ostraca memory")
            .with_description("Long-term memory for agents, kept as objects in a bucket");
        Self {
            tools: Tools::new(),
            identity,
            peer,
        }
    }

    /// Every tool there is.
    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Name and version, for the `_meta` of results.
    pub(crate) fn identity(&self) -> &Implementation {
        &self.identity
    }

    /// The inert peer of request contexts.
    pub(crate) fn peer(&self) -> Option<Peer<RoleServer>> {
        self.peer.clone()
    }
}

impl ServerHandler for MemoryServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts();
        #[cfg(feature = "conformance")]
        let capabilities = capabilities.enable_completions();
        let capabilities = capabilities.build();
        ServerConfig::new(capabilities)
            .with_server_info(self.identity.clone())
            .with_instructions(INSTRUCTIONS)
    }

    // The default keeps the client's identity in the peer, which all requests share.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        Ok(
            DiscoverResult::from_server_info(ADVERTISED.to_vec(), self.get_info())
                .with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Public),
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        let view = view(&context)?;
        let caller = view.session.caller();
        let shown = self
            .tools
            .iter()
            .filter(|tool| view.selection.shows(tool, caller))
            .map(|tool| tool.definition().clone());
        #[cfg(feature = "conformance")]
        let shown = shown.chain(conformance::tools::list());
        Ok(ListToolsResult::with_all_items(shown.collect())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(view.selection.cache_scope(&self.tools, caller)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance::tools::call(&request, &context) {
            return answer;
        }
        self.tools
            .call(view(&context)?, request)
            .await
            .map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        only_page(request)?;
        let resources = resources::list();
        #[cfg(feature = "conformance")]
        let resources = [resources, conformance::resources::list()].concat();
        Ok(ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        let templates = resources::templates();
        #[cfg(feature = "conformance")]
        let templates = [templates, conformance::resources::templates()].concat();
        Ok(ListResourceTemplatesResult::with_all_items(templates)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance::resources::read(&request.uri) {
            return answer;
        }
        resources::read(&view(&context)?.session, &request.uri)
            .await
            .map(ReadResourceResponse::from)
    }

    #[cfg(feature = "conformance")]
    async fn complete(
        &self,
        _request: rmcp::model::CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::CompleteResult, ErrorData> {
        conformance::complete()
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request)?;
        let prompts = prompts::list();
        #[cfg(feature = "conformance")]
        let prompts = [prompts, conformance::prompts::list()].concat();
        Ok(ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(answer) = conformance::prompts::get(&request) {
            return answer;
        }
        prompts::get(&view(&context)?.session, request)
            .await
            .map(GetPromptResponse::from)
    }
}

fn view(context: &RequestContext<RoleServer>) -> Result<View, ErrorData> {
    context
        .extensions
        .get::<View>()
        .cloned()
        .ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
}

/// Every list fits one page, so no cursor was ever handed out.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(
            "unknown cursor; list again without one",
            None,
        )),
    }
}

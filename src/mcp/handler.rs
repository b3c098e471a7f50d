//! Requests of the protocol, in both of its eras, handed to the thread that owns the toolbox.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, mpsc};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::toolbox::{Answer, Listing, ToolSpec, Toolbox};

/// The supported versions of the protocol: two that begin with a handshake, and one whose requests stand alone.
const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The contents of a toolbox, read once.
pub struct Offer {
    name: &'static str,
    instructions: &'static str,
    tools: Vec<Tool>,
    templates: Vec<(&'static str, &'static str)>,
}

impl Offer {
    /// Returns what this one offers.
    pub fn of(toolbox: &dyn Toolbox) -> Offer {
        Offer {
            name: toolbox.name(),
            instructions: toolbox.instructions(),
            tools: toolbox.tools().into_iter().map(tool).collect(),
            templates: toolbox.templates(),
        }
    }
}

fn tool(spec: ToolSpec) -> Tool {
    let object = |schema: Value| match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::new(Map::new()),
    };
    let hints = ToolAnnotations::new()
        .read_only(spec.read_only)
        .destructive(spec.destructive)
        .idempotent(spec.idempotent)
        .open_world(false);
    Tool::new_with_raw(spec.name, Some(Cow::Borrowed(spec.description)), object(spec.input))
        .with_raw_output_schema(object(spec.output))
        .with_annotations(hints)
}

/// A request to the toolbox's thread.
pub enum Request {
    /// A call of a tool.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// The client's name.
        client: String,
        /// The receiver of the answer.
        reply: oneshot::Sender<Option<Answer>>,
    },
    /// A request for the list of resources.
    Resources {
        /// The end of the page before.
        cursor: Option<String>,
        /// The receiver of the answer.
        reply: oneshot::Sender<Result<Listing, String>>,
    },
    /// A request for a resource.
    Read {
        /// Its address.
        address: String,
        /// The receiver of the answer.
        reply: oneshot::Sender<Option<String>>,
    },
}

/// Answers a client.
pub struct Handler {
    offer: Offer,
    worker: Mutex<mpsc::Sender<Request>>,
}

impl Handler {
    /// Creates a handler that passes requests on.
    pub fn new(offer: Offer, worker: mpsc::Sender<Request>) -> Handler {
        Handler { offer, worker: Mutex::new(worker) }
    }

    /// Sends the toolbox a request and waits for the answer.
    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, ErrorData> {
        let gone = || ErrorData::internal_error("the server is ending", None);
        let (reply, answer) = oneshot::channel();
        let sent = self.worker.lock().map_err(|_| gone())?.send(request(reply));
        sent.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.offer.name, env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(self.offer.instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: self.offer.tools.clone(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = context.client_info().map(|client| client.name).unwrap_or_default();
        let (name, arguments) = (request.name.into_owned(), request.arguments.unwrap_or_default());
        let unknown = format!("there is no tool {name}");
        match self.ask(|reply| Request::Call { name, arguments, client, reply }).await? {
            Some(Answer::Done(value)) => Ok(CallToolResult::structured(value).into()),
            Some(Answer::Refused(value)) => Ok(CallToolResult::structured_error(value).into()),
            None => Err(ErrorData::invalid_params(unknown, None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let listing = self.ask(|reply| Request::Resources { cursor, reply }).await?;
        let listing = listing.map_err(|error| ErrorData::invalid_params(error, None))?;
        let resource = |(uri, name): (String, String)| Resource::new(uri, name).with_mime_type("text/plain");
        let resources = listing.resources.into_iter().map(resource).collect();
        Ok(ListResourcesResult { resources, next_cursor: listing.next, ..ListResourcesResult::default() })
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = |(uri, name): &(&'static str, &'static str)| ResourceTemplate::new(*uri, *name);
        let resource_templates = self.offer.templates.iter().map(template).collect();
        Ok(ListResourceTemplatesResult { resource_templates, ..ListResourceTemplatesResult::default() })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = request.uri.clone();
        match self.ask(|reply| Request::Read { address, reply }).await? {
            Some(text) => Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into()),
            None => Err(ErrorData::resource_not_found(format!("there is no resource {}", request.uri), None)),
        }
    }
}

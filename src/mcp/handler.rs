//! Requests of the protocol, in both of its eras, handed to the thread that owns the toolbox.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, mpsc};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, ErrorCode, Implementation, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Request as Message, Resource, ResourceContents, ResourceTemplate, ServerCapabilities,
    ServerConfig, ServerRequest, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::lines::wrong_parameters;
use super::toolbox::{Client, ConsentQuestion, Contents, Entry, ResourcePage, ServedAnswer, ServedTool, Toolbox};

/// The supported versions of the protocol: two that begin with a handshake, and one whose requests stand alone.
const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// The methods that are answered: a request of one of them that is not understood has other parameters.
const METHODS: [&str; 7] = [
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// The name of the question to the person, and of the field that holds the answer.
const CONSENT: &str = "consent";

/// The refusal of an answer to a question that is no longer kept.
const DROPPED: &str =
    "too many questions were asked at once, so this answer came too late: nothing was changed; call it again";

/// The contents of a toolbox, read once.
pub struct Offer {
    name: &'static str,
    instructions: String,
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

fn tool(spec: ServedTool) -> Tool {
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
pub(super) enum Request {
    /// A call of a tool.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// The client.
        client: Client,
        /// The receiver of the answer.
        reply: oneshot::Sender<Option<ServedAnswer>>,
    },
    /// The person's answer to a question.
    Answered {
        /// The question's ticket.
        ticket: String,
        /// True if it is a yes.
        yes: bool,
        /// The receiver of the answer.
        reply: oneshot::Sender<Option<ServedAnswer>>,
    },
    /// A request for the list of resources.
    Resources {
        /// The end of the page before.
        cursor: Option<String>,
        /// The receiver of the answer.
        reply: oneshot::Sender<Result<ResourcePage, String>>,
    },
    /// A request for a resource.
    Read {
        /// Its address.
        address: String,
        /// The receiver of the answer.
        reply: oneshot::Sender<Option<Contents>>,
    },
}

/// Answers a client.
pub struct Handler {
    offer: Offer,
    worker: Mutex<mpsc::Sender<Request>>,
    /// Cancelled once the client is gone.
    gone: CancellationToken,
}

impl Handler {
    /// Creates a handler that passes requests on.
    pub fn new(offer: Offer, worker: mpsc::Sender<Request>, gone: CancellationToken) -> Handler {
        Handler { offer, worker: Mutex::new(worker), gone }
    }

    /// Sends the toolbox a request and waits for the answer, unless the client cancels it: what has not begun by then is
    /// passed over.
    async fn ask<T>(
        &self,
        context: &RequestContext<RoleServer>,
        request: impl FnOnce(oneshot::Sender<T>) -> Request,
    ) -> Result<T, ErrorData> {
        let gone = || ErrorData::internal_error("the server is ending", None);
        let (reply, answer) = oneshot::channel();
        let sent = self.worker.lock().map_err(|_| gone())?.send(request(reply));
        sent.map_err(|_| gone())?;
        tokio::select! {
            answer = answer => answer.map_err(|_| gone()),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }

    /// Asks the person through a client of the era with a handshake. A client that goes, cancels or answers anything
    /// else has not said yes.
    async fn consents(&self, question: &ConsentQuestion, context: &RequestContext<RoleServer>) -> bool {
        let Some(params) = form(question) else { return false };
        let request = ServerRequest::ElicitRequest(Message::new(params));
        tokio::select! {
            answer = context.peer.send_request(request) => match answer {
                Ok(ClientResult::ElicitResult(answer)) => is_yes(&answer),
                _ => false,
            },
            () = context.ct.cancelled() => false,
            () = self.gone.cancelled() => false,
        }
    }
}

/// Returns the form of a question: one box to tick.
fn form(question: &ConsentQuestion) -> Option<ElicitRequestParams> {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {CONSENT: {"type": "boolean", "title": question.yes, "default": false}},
        "required": [CONSENT],
    });
    let schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = question.text.clone();
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Returns whether an answer to the form is a yes: accepted, with the box ticked.
fn is_yes(answer: &ElicitResult) -> bool {
    let ticked = answer.content.as_ref().is_some_and(|content| content[CONSENT] == true);
    answer.action == ElicitationAction::Accept && ticked
}

/// Returns the person's answer that comes with a request that is sent again.
fn yes_in(responses: Option<&InputResponses>) -> Option<bool> {
    let answer: ElicitResult = serde_json::from_value(responses?.get(CONSENT)?.clone()).ok()?;
    Some(is_yes(&answer))
}

/// Returns who calls, and whether it can ask its person by a form.
fn client_of(context: &RequestContext<RoleServer>) -> Client {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    let asks = context.client_capabilities().and_then(|can| can.elicitation);
    // One that names no kind of question has forms.
    let can_ask = asks.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none());
    Client { name, can_ask, stop: context.ct.clone() }
}

/// Returns the answer that has a client of the era without a handshake ask its person, and send the request again.
fn asked_again(question: &ConsentQuestion) -> CallToolResponse {
    let asked = form(question)
        .map(|form| InputRequests::from([(CONSENT.to_owned(), InputRequest::Elicitation(Message::new(form)))]));
    InputRequiredResult::new(asked, Some(question.ticket.clone())).into()
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.offer.name, env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_instructions(self.offer.instructions.clone())
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
        let (name, arguments) = (request.name.into_owned(), request.arguments.unwrap_or_default());
        let unknown = format!("there is no tool {name}");
        // A request that is sent again with the person's answer goes on where it was.
        let mut answer = match request.request_state.zip(yes_in(request.input_responses.as_ref())) {
            Some((ticket, yes)) => self.ask(&context, |reply| Request::Answered { ticket, yes, reply }).await?,
            None => None,
        };
        if answer.is_none() {
            let client = client_of(&context);
            answer = self.ask(&context, |reply| Request::Call { name, arguments, client, reply }).await?;
        }
        if let Some(ServedAnswer::Ask(question)) = &answer {
            if context.protocol_version() == Some(ProtocolVersion::V_2026_07_28) {
                return Ok(asked_again(question));
            }
            let yes = self.consents(question, &context).await;
            let ticket = question.ticket.clone();
            answer = self.ask(&context, |reply| Request::Answered { ticket, yes, reply }).await?;
            // The toolbox keeps so many questions at once.
            answer
                .get_or_insert_with(|| ServedAnswer::Refused(json!({"error": {"kind": "stale", "message": DROPPED}})));
        }
        match answer {
            Some(ServedAnswer::Done(value)) => Ok(CallToolResult::structured(value).into()),
            Some(ServedAnswer::Noted(value, notes)) => {
                let mut result = CallToolResult::structured(value);
                result.content.extend(notes.into_iter().map(ContentBlock::text));
                Ok(result.into())
            }
            // Clients check what is structured against the schema of a result, which a refusal does not have.
            Some(ServedAnswer::Refused(value)) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(value.to_string())]).into())
            }
            Some(ServedAnswer::Ask(_)) => Err(ErrorData::internal_error("one question is asked for a call", None)),
            None => Err(ErrorData::invalid_params(unknown, None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(wrong_parameters(&method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method}"), None))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let listing = self.ask(&context, |reply| Request::Resources { cursor, reply }).await?;
        let listing = listing.map_err(|error| ErrorData::invalid_params(error, None))?;
        let resource = |entry: Entry| Resource::new(entry.address, entry.name).with_mime_type(entry.media);
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
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = request.uri.clone();
        match self.ask(&context, |reply| Request::Read { address, reply }).await? {
            Some(contents) => {
                let contents = match contents {
                    Contents::Text(text, media) => ResourceContents::text(text, request.uri).with_mime_type(media),
                    Contents::Base64(bytes) => ResourceContents::blob(bytes, request.uri),
                };
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            None => Err(ErrorData::resource_not_found(format!("there is no resource {}", request.uri), None)),
        }
    }
}

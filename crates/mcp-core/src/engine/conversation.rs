use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use mcp_json::Parsed;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Dispatch, Mcp, OutputContract, bare::BARE_REVISION, params::Params, tools::arguments_of,
    updates::Listener,
};
use crate::{
    BoxFuture, Call, Context, Era, Error, Handler, Json, LogLevel, Notification, Peer, Request,
    RequestId, Response, Revision, UncheckedResponse,
    context::{Caller, Inputs, Rounds},
};

/// Serves one client, and holds the per-client state that the revision requires.
#[derive(Debug)]
pub struct Conversation {
    pub(super) mcp: Mcp,
    /// The only supported era, if the transport allows just one.
    era: Option<Era>,
    /// The client's authenticated identity, if known.
    pub(super) principal: Option<Arc<str>>,
    /// The client as described by its handshake.
    caller: Mutex<Option<Caller>>,
    /// The client's resource subscriptions, in the handshake era.
    listener: OnceLock<Arc<Listener>>,
    /// Whether the client has finished the handshake.
    pub(super) ready: watch::Sender<bool>,
    /// Whether a request of a stateless revision was served. If so, a request without metadata more
    /// likely belongs to that revision than to a client that skipped its handshake.
    is_stateless: AtomicBool,
    /// Cancelled when the client will send nothing more.
    ending: CancellationToken,
}

/// A serialized result, and the output check to make before it is sent.
pub(super) struct Written {
    pub(super) json: Json,
    pub(super) contract: Option<OutputContract>,
}

impl From<Json> for Written {
    fn from(json: Json) -> Written {
        Written { json, contract: None }
    }
}

impl Conversation {
    pub(super) fn new(mcp: Mcp, era: Option<Era>) -> Conversation {
        Conversation {
            mcp,
            era,
            principal: None,
            caller: Mutex::default(),
            listener: OnceLock::new(),
            ready: watch::channel(false).0,
            is_stateless: AtomicBool::new(false),
            ending: CancellationToken::new(),
        }
    }

    /// Sets the client's authenticated identity. State handed to one principal for later rounds of a
    /// call is rejected from any other.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<Arc<str>>) -> Conversation {
        self.principal = principal;
        self
    }

    /// Serves a request.
    pub async fn process_request(&self, request: Request, call: Call) -> Response {
        self.answer(request, call).await.checked()
    }

    async fn answer(&self, request: Request, call: Call) -> UncheckedResponse {
        let Request { id, method, params } = request;
        let (revision, outcome) = match self.mcp.settings().dispatch {
            Dispatch::Bare => {
                let outcome = self.process_bare(&id, &method, params, call).await;
                (BARE_REVISION, outcome)
            }
            Dispatch::Mcp => self.process(&id, &method, params, call).await,
        };
        let (outcome, contract) = match outcome {
            Ok(Written { json, contract }) => (Ok(json), contract),
            Err(error) => (Err(error), None),
        };
        UncheckedResponse { response: Response { id, revision, outcome }, contract }
    }

    async fn process(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<Json>,
        call: Call,
    ) -> (Revision, Result<Written, Error>) {
        let parsed = match params.as_ref().map(Json::to_parsed).transpose() {
            Ok(parsed) => parsed,
            Err(error) => {
                let error = Error::invalid_params(format!("`params` is not JSON: {error}"));
                return (self.error_revision(), Err(error));
            }
        };
        let document = parsed.as_ref().map(Parsed::document);
        let read = match Params::read(parsed.as_ref().zip(document.as_ref())) {
            Ok(read) => read,
            Err(error) => return (self.error_revision(), Err(error)),
        };
        // Only the handshake era has it, whatever the request's metadata says.
        if method == "initialize" && self.era != Some(Era::Modern) {
            let (revision, outcome) = self.initialize(params.as_ref());
            return (revision, outcome.map(Written::from));
        }
        if self.is_modern(method, &read) {
            let revision = Revision::LATEST;
            return (revision, self.process_modern(id, method, params.as_ref(), &read, call).await);
        }
        let caller = match (self.caller(), method) {
            (Some(caller), _) => caller,
            (None, "ping") => return (self.error_revision(), Ok(Json::empty_object().into())),
            (None, _) => return (self.error_revision(), Err(Error::NotInitialized)),
        };
        let revision = caller.revision;
        // Gates and proxies trust the revision that the request declares.
        if let Some(declared) = read.meta.as_ref().and_then(|meta| meta.protocol_version.as_deref())
            && declared != revision.as_str()
        {
            let error = Error::UnsupportedRevision {
                requested: declared.to_owned(),
                supported: vec![revision],
            };
            return (revision, Err(error));
        }
        (revision, self.process_legacy(id, method, params.as_ref(), &read, caller, call).await)
    }

    async fn process_legacy(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&Json>,
        read: &Params<'_>,
        caller: Caller,
        call: Call,
    ) -> Result<Written, Error> {
        let offer = &self.mcp.shared.offer;
        match method {
            "ping" => Ok(Json::empty_object().into()),
            "logging/setLevel" if offer.logging => {
                self.set_log_level(read.level()?);
                Ok(Json::empty_object().into())
            }
            "resources/subscribe" if offer.resources && offer.subscriptions => {
                self.listener().subscribe(&read.uri()?)?;
                Ok(Json::empty_object().into())
            }
            "resources/unsubscribe" if offer.resources && offer.subscriptions => {
                self.listener().unsubscribe(&read.uri()?);
                Ok(Json::empty_object().into())
            }
            _ => {
                let context = self.context(id, params, read, caller, call, Inputs::requests());
                self.process_common(method, params, read, context).await
            }
        }
    }

    async fn process_modern(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&Json>,
        read: &Params<'_>,
        call: Call,
    ) -> Result<Written, Error> {
        let caller = match self.modern_caller(read) {
            // This error is the only way to tell a client of the other era what is supported.
            Err(Error::InvalidMeta { .. }) if method == "initialize" && self.era.is_none() => {
                return Err(Error::UnsupportedRevision {
                    requested: requested_version(params).unwrap_or_default(),
                    supported: self.mcp.supported(),
                });
            }
            caller => caller?,
        };
        self.is_stateless.store(true, Ordering::Relaxed);
        match method {
            "server/discover" => self.mcp.discover(caller.revision).map(Written::from),
            "subscriptions/listen" => {
                // Boxed, so that the futures of all other requests are smaller.
                let listening = Box::pin(self.mcp.listen(id, read, call, &self.ending));
                listening.await.map(Written::from)
            }
            "tools/call" | "prompts/get" | "resources/read" => {
                let rounds = self.mcp.resume_rounds(method, read, self.principal.as_deref());
                let inputs = Inputs::rounds(rounds?);
                let context = self.context(id, params, read, caller, call, inputs);
                let outcome = self.process_common(method, params, read, context.clone()).await;
                match outcome {
                    Err(Error::InputRequired) => {
                        self.mcp.write_input_required(method, read, &context).map(Written::from)
                    }
                    outcome => outcome,
                }
            }
            _ => {
                let inputs = Inputs::rounds(Rounds::default());
                let context = self.context(id, params, read, caller, call, inputs);
                self.process_common(method, params, read, context).await
            }
        }
    }

    /// Serves methods that work the same in every revision.
    async fn process_common(
        &self,
        method: &str,
        params: Option<&Json>,
        read: &Params<'_>,
        context: Context,
    ) -> Result<Written, Error> {
        let mcp = &self.mcp;
        let offer = &mcp.shared.offer;
        let revision = context.revision();
        match method {
            "tools/list" if offer.tools => mcp.list_tools(revision, read).map(Written::from),
            "tools/call" if offer.tools => {
                let tool = mcp.tool(&read.name()?)?;
                let arguments = arguments_of(read)?;
                let result = match mcp.call_tool(&tool, arguments, context).await {
                    // These revisions have no error code for it.
                    Err(error @ Error::MissingCapability { .. })
                        if revision.era() == Era::Legacy =>
                    {
                        crate::CallToolResult::error(error.to_string())
                    }
                    result => result?,
                };
                mcp.write_tool_result(&tool, revision, result)
            }
            "prompts/list" if offer.prompts => mcp.list_prompts(revision, read).map(Written::from),
            "prompts/get" if offer.prompts => {
                mcp.write_prompt(revision, mcp.prompt(read, context).await?).map(Written::from)
            }
            "resources/list" if offer.resources => {
                mcp.list_resources(revision, read).map(Written::from)
            }
            "resources/templates/list" if offer.resources => {
                mcp.list_templates(revision, read).map(Written::from)
            }
            "resources/read" if offer.resources => {
                let resource = mcp.resource(&read.uri()?, context).await?;
                mcp.write_resource(revision, resource).map(Written::from)
            }
            "completion/complete" if offer.completions => {
                mcp.complete(revision, params, context).await.map(Written::from)
            }
            _ => Err(Error::MethodNotFound { method: method.to_owned() }),
        }
    }

    /// Whether the request belongs to a stateless revision.
    fn is_modern(&self, method: &str, read: &Params<'_>) -> bool {
        if !self.mcp.revisions().contains(Revision::LATEST) && self.era != Some(Era::Modern) {
            return false;
        }
        self.era.map_or_else(
            || {
                let has_metadata = read.meta.as_ref().is_some_and(|meta| {
                    meta.protocol_version.is_some()
                        || meta.client_capabilities.is_some()
                        || meta.client_info.is_some()
                });
                let is_new = matches!(method, "server/discover" | "subscriptions/listen");
                let supports_legacy = self.mcp.revisions().iter().any(|r| r.era() == Era::Legacy);
                let is_continued =
                    || self.is_stateless.load(Ordering::Relaxed) && self.caller().is_none();
                has_metadata || is_new || !supports_legacy || is_continued()
            },
            |era| era == Era::Modern,
        )
    }

    /// The client as described by the request's metadata.
    fn modern_caller(&self, read: &Params<'_>) -> Result<Caller, Error> {
        let lacks = |key: &str| Error::InvalidMeta { message: format!("`_meta` lacks `{key}`") };
        let meta = read.meta.as_ref().ok_or_else(|| Error::InvalidMeta {
            message: "`params._meta` is missing".to_owned(),
        })?;
        let version = meta.protocol_version.as_deref();
        let version = version.ok_or_else(|| lacks(crate::Meta::PROTOCOL_VERSION))?;
        let revision = version
            .parse()
            .ok()
            .filter(|revision: &Revision| {
                revision.era() == Era::Modern && self.mcp.revisions().contains(*revision)
            })
            .ok_or_else(|| Error::UnsupportedRevision {
                requested: version.to_owned(),
                supported: self.mcp.supported(),
            })?;
        let capabilities = meta.client_capabilities.clone();
        let capabilities = capabilities.ok_or_else(|| lacks(crate::Meta::CLIENT_CAPABILITIES))?;
        Ok(Caller {
            revision,
            capabilities: Arc::new(capabilities),
            info: meta.client_info.clone().map(Arc::new),
            log_level: meta.log_level.filter(|_| self.mcp.shared.offer.logging),
            principal: self.principal.clone(),
        })
    }

    pub(super) fn set_caller(&self, caller: Caller) {
        *self.lock_caller() = Some(caller);
    }

    pub(super) fn caller(&self) -> Option<Caller> {
        self.lock_caller().clone()
    }

    pub(super) fn listener(&self) -> &Arc<Listener> {
        self.listener.get_or_init(|| self.mcp.shared.updates.listen(BTreeSet::new()))
    }

    fn set_log_level(&self, level: LogLevel) {
        if let Some(caller) = &mut *self.lock_caller() {
            caller.log_level = Some(level);
        }
    }

    fn context(
        &self,
        id: &RequestId,
        params: Option<&Json>,
        read: &Params<'_>,
        caller: Caller,
        call: Call,
        inputs: Inputs,
    ) -> Context {
        let token = read.meta.as_ref().and_then(|meta| meta.progress_token.clone());
        let inputs_and_contracts = (inputs, Arc::clone(&self.mcp.shared.contracts));
        let params = params.cloned().map(Json::without_tape);
        Context::new(id.clone(), params, caller, token, call, inputs_and_contracts)
    }

    /// The revision in which to report an error.
    fn error_revision(&self) -> Revision {
        match self.era {
            Some(Era::Modern) => Revision::LATEST,
            _ => self.revision().unwrap_or(Revision::LATEST_LEGACY),
        }
    }

    fn lock_caller(&self) -> MutexGuard<'_, Option<Caller>> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The protocol version requested by `initialize`.
fn requested_version(params: Option<&Json>) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Requested {
        protocol_version: String,
    }
    Some(params?.read::<Requested>().ok()?.protocol_version)
}

impl Handler for Conversation {
    fn handle_request(&self, request: Request, call: Call) -> BoxFuture<'_, UncheckedResponse> {
        Box::pin(self.answer(request, call))
    }

    fn handle_notification(
        &self,
        notification: Notification,
        peer: Arc<dyn Peer>,
    ) -> BoxFuture<'_, ()> {
        if self.dispatch() == Dispatch::Bare {
            return Box::pin(self.process_bare_notification(notification, peer));
        }
        if notification.method == "notifications/initialized" && self.caller().is_some() {
            self.ready.send_replace(true);
        }
        Box::pin(std::future::ready(()))
    }

    fn revision(&self) -> Option<Revision> {
        match self.era {
            Some(Era::Modern) => Some(Revision::LATEST),
            _ => self.lock_caller().as_ref().map(|caller| caller.revision),
        }
    }

    fn dispatch(&self) -> Dispatch {
        self.mcp.settings().dispatch
    }

    fn run_background(&self, peer: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        Box::pin(self.forward_changes(peer))
    }

    fn input_ended(&self) {
        self.ending.cancel();
    }
}

//! The MCP side: lists the tools, hands calls to them, turns their outcomes into results. Cancelling a call ends what it started.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::http::request::Parts;
use pithos_sessions::limits::RUN_YIELD_MS_DEFAULT;
use pithos_sessions::{Manager, Tape};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::asking::AtClient;
use crate::clients::{Clients, Identity, Present};
use crate::desk::Desk;
use crate::journal::Recorder;
use crate::journal::record::Ended;
use crate::limits::RESOURCES_WATCHED;
use crate::resources::{self, Named, Subscriptions};
use crate::schema;
use crate::servers::Servers;
use crate::tasks;
use crate::tools::{self, Call, Outcome};
use crate::watchdog::Calls;

/// Whose sessions a call is about.
#[derive(Clone)]
pub(crate) enum Callers {
    /// There is one client.
    One(Arc<Manager>),
    /// Whoever the request's identity says.
    Many(Arc<Clients>),
}

/// The server as the protocol sees it.
#[derive(Clone)]
pub(crate) struct Handler {
    callers: Callers,
    recorder: Arc<Recorder>,
    calls: Calls,
    servers: Arc<Servers>,
    subscriptions: Arc<Subscriptions>,
    desk: Option<Arc<Desk>>,
}

impl Handler {
    /// A handler over the sessions of `callers`.
    pub(crate) fn new(callers: Callers, recorder: Arc<Recorder>, calls: Calls, servers: Servers) -> Self {
        Self {
            callers,
            recorder,
            calls,
            servers: Arc::new(servers),
            subscriptions: Arc::default(),
            desk: None,
        }
    }

    /// People may be asked there too.
    pub(crate) fn asking_at(mut self, desk: Arc<Desk>) -> Self {
        self.desk = Some(desk);
        self
    }

    /// The manager of whoever calls, and the sign that they are here; a message when there is no place for them.
    async fn caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Arc<Manager>, Option<Present>), String> {
        match &self.callers {
            Callers::One(manager) => Ok((Arc::clone(manager), None)),
            Callers::Many(clients) => {
                let head = context.extensions.get::<Parts>();
                let identity = head.and_then(|head| head.extensions.get::<Identity>());
                let present = clients.admit(identity.ok_or("the request has no identity")?).await?;
                Ok((clients.manager(&present).await?, Some(present)))
            }
        }
    }
}

fn internal(message: String) -> ErrorData {
    ErrorData::internal_error(message, None)
}

fn not_found(message: String) -> ErrorData {
    ErrorData::resource_not_found(message, None)
}

const INSTRUCTIONS: &str = "Shell sessions that keep their state, jobs that can be waited for, logs of everything they wrote, JavaScript cells and actors. Start with `run`.";

/// The methods that are answered here.
const METHODS: [&str; 14] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tasks()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("pithos", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_string());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(schema::listed().to_vec()))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (manager, _present) = self.caller(&context).await.map_err(internal)?;
        Ok(ListResourcesResult::with_all_items(resources::list(&manager)))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (manager, _present) = self.caller(&context).await.map_err(internal)?;
        let read = tokio::task::spawn_blocking(move || resources::read(&manager, &request.uri));
        let contents = read.await.map_err(|error| internal(error.to_string()))?.map_err(not_found)?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    #[allow(deprecated, reason = "the protocol with sessions has no other form")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (manager, present) = self.caller(&context).await.map_err(internal)?;
        let (uri, peer) = (request.uri.clone(), context.peer.clone());
        let tell = move || {
            let (peer, uri) = (peer.clone(), uri.clone());
            async move { peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok() }
        };
        let named = Named::of(&request.uri).map_err(not_found)?;
        let watching = resources::watch(&manager, named, tell).map_err(not_found)?;
        let client = present.as_ref().map(Present::number);
        self.subscriptions.add(client, request.uri, watching).map_err(not_found)
    }

    #[allow(deprecated, reason = "the protocol with sessions has no other form")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (_, present) = self.caller(&context).await.map_err(internal)?;
        self.subscriptions.remove(present.as_ref().map(Present::number), &request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        let named = requested.resource_subscriptions.iter().flatten().filter(|uri| Named::of(uri).is_ok());
        accepted.resource_subscriptions = Some(named.take(RESOURCES_WATCHED).cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (manager, _present) = self.caller(context.request_context()).await.map_err(internal)?;
        let mut watching = Vec::new();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let (sink, told) = (context.sink().clone(), uri.clone());
            let tell = move || {
                let (sink, uri) = (sink.clone(), told.clone());
                async move { sink.notify_resource_updated(uri).await.is_ok() }
            };
            let named = Named::of(uri).map_err(not_found)?;
            watching.push(resources::watch(&manager, named, tell).map_err(not_found)?);
        }
        context.cancelled().await;
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let (manager, _present) = self.caller(&context).await.map_err(internal)?;
        tasks::get(&manager, &request).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (manager, _present) = self.caller(&context).await.map_err(internal)?;
        tasks::find(&manager, &request.task_id).map(drop)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (manager, _present) = self.caller(&context).await.map_err(internal)?;
        tasks::cancel(&manager, &request)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        schema::tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // What the protocol knows comes here only with parameters that do not fit.
        if METHODS.contains(&request.method.as_str()) {
            let text = format!("the parameters of {} do not fit", request.method);
            return Err(ErrorData::invalid_params(text, None));
        }
        let text = format!("there is no method '{}'", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let progress = progress_reporter(&context);
        let mut entry = self.recorder.begin(&request.name, &arguments);
        let (manager, present) = match self.caller(&context).await {
            Ok(caller) => caller,
            Err(message) => {
                entry.admitted().await;
                entry.fail(Ended::Refused, &message);
                return Ok(CallToolResult::error(vec![ContentBlock::text(message)]).into());
            }
        };
        entry.client = present.as_ref().map(Present::number);
        tokio::select! {
            () = entry.admitted() => {}
            () = context.ct.cancelled() => {
                return Ok(CallToolResult::error(vec![ContentBlock::text("the call was taken back")]).into());
            }
        }
        if manager.asks() {
            let (peer, desk) = (context.peer.clone(), self.desk.clone());
            manager.ask_through(Arc::new(AtClient { peer, desk, number: entry.client }));
        }
        let _ended_with_client = present.as_ref().map(|present| {
            let (gone, cancelled) = (present.gone().clone(), context.ct.clone());
            AbortOnDrop(tokio::spawn(async move {
                gone.cancelled().await;
                cancelled.cancel();
            }))
        });
        let (recorder, client) = (Arc::clone(&self.recorder), entry.client);
        let call = Call {
            recorder,
            client,
            tape: None,
            manager: Arc::clone(&manager),
            cancelled: context.ct.clone(),
            servers: Arc::clone(&self.servers),
            tasks: tasks::wanted(&context, &request.name, &arguments),
        };
        let for_task = call.tasks.then(|| Arc::clone(&call.manager));
        let under_way = self.calls.enter(serde_json::to_value(&context.id).unwrap_or(Value::Null));
        let outcome = watched(request.name.to_string(), arguments, call).await;
        drop((progress, under_way));
        let Some(outcome) = outcome else {
            let message = format!("there is no tool '{}'", request.name);
            entry.fail(Ended::UnknownTool, &message);
            return Err(ErrorData::invalid_params(message, None));
        };
        let result = match outcome {
            Outcome::Good(report) => {
                entry.tape = entry.is_journalled().then(|| tape_of(&manager, &report.structured)).flatten();
                entry.end(Ended::Good, &report.structured, &report.text);
                if let Some(task) = for_task.and_then(|manager| tasks::instead_of(&report, &manager)) {
                    return Ok(CallToolResponse::Task(task));
                }
                let mut result = CallToolResult::success(vec![ContentBlock::text(report.text)]);
                result.structured_content = Some(report.structured);
                result
            }
            Outcome::Wrong(message) => {
                entry.fail(Ended::Wrong, &message);
                CallToolResult::error(vec![ContentBlock::text(message)])
            }
        };
        Ok(result.into())
    }
}

/// What the cell whose end a result is learned by chance.
fn tape_of(manager: &Manager, structured: &Value) -> Option<Tape> {
    manager.cell(structured["cell"].as_str()?).ok()?.end()?.tape.clone()
}

/// Past what a call may take by its own arguments, so long and it is given up.
const CALL_GRACE: Duration = Duration::from_secs(60);

/// Carries out a call in a task of its own: one that panics or never comes back is an answer too.
async fn watched(name: String, arguments: Value, call: Call) -> Option<Outcome> {
    let patience = patience(&arguments).saturating_add(CALL_GRACE);
    let cancelled = call.cancelled.clone();
    let mut work = tokio::spawn(async move { tools::call(&name, arguments, call).await });
    let end = tokio::time::timeout(patience, &mut work).await;
    let wrong = |message: String| Some(Outcome::Wrong(message));
    match end {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => wrong(
            "the call failed inside the server (this is a fault of pithos; its stderr says more); sessions and jobs go on".to_string(),
        ),
        Err(_) => {
            cancelled.cancel();
            work.abort();
            wrong(format!(
                "the call did not come back within {} s and was given up (this is a fault of pithos); sessions and jobs go on",
                patience.as_secs()
            ))
        }
    }
}

/// What a call may take: the longest time that it names, or the longest default.
fn patience(arguments: &Value) -> Duration {
    let named = ["timeout_ms", "yield_ms"].iter().filter_map(|name| arguments[name].as_u64()).max();
    Duration::from_millis(named.unwrap_or(0).max(RUN_YIELD_MS_DEFAULT))
}

/// Seconds between two progress messages.
const PROGRESS_EVERY_S: u64 = 2;

/// Tells a client that asked for it how long its call has been running.
fn progress_reporter(context: &RequestContext<RoleServer>) -> Option<AbortOnDrop> {
    let (token, peer) = (context.meta.get_progress_token()?, context.peer.clone());
    Some(AbortOnDrop(tokio::spawn(async move {
        let started = Instant::now();
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(PROGRESS_EVERY_S)).await;
            let seconds = started.elapsed().as_secs_f64();
            let parameters = ProgressNotificationParam::new(token.clone(), seconds)
                .with_message(format!("running for {seconds:.0} s"));
            if peer.notify_progress(parameters).await.is_err() {
                return;
            }
        }
    })))
}

/// A task that ends with its owner.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

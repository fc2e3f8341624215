use std::{marker::PhantomData, sync::Arc};

use mcp_core::{
    BoxFuture, CallToolResult, Context, Error, Icon, Json, Meta, Tool, ToolAnnotations, ToolHandler,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::task::AbortHandle;

use super::{Failure, ToolOutput, arguments::read, schema::arguments_schema};

/// A function as a tool, with everything that clients see of it. The schemas are derived from its
/// argument and return types.
///
/// For a tool with just a name and a description,
/// [`ServerBuilder::tool`](super::ServerBuilder::tool) is enough.
///
/// ```
/// use mcp_sdk::{NoArguments, Server, ToolFunction, core::ToolAnnotations};
///
/// let clock = ToolFunction::new("now", "Says what time it is", async |_: NoArguments, _| Ok("late"))
///     .title("Clock")
///     .annotations(ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() });
/// let server = Server::builder("clock", "1.0.0").tool_function(clock).build()?;
/// # Ok::<(), mcp_sdk::BuildError>(())
/// ```
#[derive(Debug)]
pub struct ToolFunction {
    pub(super) tool: Tool,
    pub(super) handler: Arc<dyn ToolHandler>,
}

impl ToolFunction {
    /// An async function. All calls on a connection are served by one task: a function that computes
    /// for a long time, or waits without `await`, holds up all the others and should be a
    /// [blocking](ToolFunction::blocking) tool.
    pub fn new<A, F, R, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> ToolFunction
    where
        F: Fn(A, Context) -> R + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        R: Future<Output = Result<O, Failure>> + Send + 'static,
        O: ToolOutput + 'static,
    {
        let handler = AsyncTool { run, arguments: PhantomData };
        ToolFunction::of::<A, O>(name, description, Arc::new(handler))
    }

    /// A function that computes for a long time, or waits without `await`, for files, databases or
    /// child processes. Each call runs on a blocking thread and does not hold up others.
    ///
    /// A cancelled call is not started; one that is running can check [`Context::is_cancelled`].
    /// Async methods of [`Context`] can be called with
    /// `tokio::runtime::Handle::current().block_on(…)`.
    pub fn blocking<A, F, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> ToolFunction
    where
        F: Fn(A, Context) -> Result<O, Failure> + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: ToolOutput + 'static,
    {
        let handler = BlockingTool { run: Arc::new(run), arguments: PhantomData };
        ToolFunction::of::<A, O>(name, description, Arc::new(handler))
    }

    fn of<A: JsonSchema, O: ToolOutput>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: Arc<dyn ToolHandler>,
    ) -> ToolFunction {
        let mut tool = Tool::new(name, arguments_schema::<A>()).description(description);
        tool.output_schema = O::schema();
        ToolFunction { tool, handler }
    }

    /// Sets the human-readable name.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        ToolFunction { tool: self.tool.title(title), ..self }
    }

    /// Sets the annotations.
    #[must_use]
    pub fn annotations(self, annotations: ToolAnnotations) -> Self {
        ToolFunction { tool: self.tool.annotations(annotations), ..self }
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(self, icon: Icon) -> Self {
        ToolFunction { tool: self.tool.icon(icon), ..self }
    }

    /// Sets `_meta`.
    #[must_use]
    pub fn meta(self, meta: Meta) -> Self {
        ToolFunction { tool: self.tool.meta(meta), ..self }
    }
}

struct AsyncTool<F, A> {
    run: F,
    arguments: PhantomData<fn(A)>,
}

impl<F, A, R, O> ToolHandler for AsyncTool<F, A>
where
    F: Fn(A, Context) -> R + Send + Sync,
    A: DeserializeOwned,
    R: Future<Output = Result<O, Failure>> + Send,
    O: ToolOutput,
{
    fn call(
        &self,
        arguments: Json,
        context: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        Box::pin(async move {
            let arguments = read(&arguments)?;
            let output = (self.run)(arguments, context).await.map_err(|failure| failure.0)?;
            output.into_result()
        })
    }
}

struct BlockingTool<F, A> {
    run: Arc<F>,
    arguments: PhantomData<fn(A)>,
}

impl<F, A, O> ToolHandler for BlockingTool<F, A>
where
    F: Fn(A, Context) -> Result<O, Failure> + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    O: ToolOutput,
{
    fn call(
        &self,
        arguments: Json,
        context: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        let run = Arc::clone(&self.run);
        Box::pin(async move {
            let arguments: A = read(&arguments)?;
            let running = tokio::task::spawn_blocking(move || {
                let output = run(arguments, context).map_err(|failure| failure.0)?;
                output.into_result()
            });
            let _abort = AbortOnDrop(running.abort_handle());
            match running.await {
                Ok(outcome) => outcome,
                Err(failed) => match failed.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => Err(Error::Cancelled),
                },
            }
        })
    }
}

/// Removes a call that has not started from the queue when it is cancelled.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

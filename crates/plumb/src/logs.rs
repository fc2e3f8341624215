//! Log output of long-running commands, on standard error.

use std::{fmt, io};

use tracing::{Event, Level, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer as _,
    filter::Targets,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    layer::SubscriberExt as _,
    registry::LookupSpan,
};

use crate::{
    args::{LogFormat, LogLevel},
    text::visible,
};

/// Installs the logger, unless one is installed already.
pub(crate) fn start(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    // Other crates only log warnings and errors.
    let ours = ["plumb", "mcp_proxy", "mcp_transport", "mcp_rules", "mcp_schema", "server"];
    let filter = Targets::new()
        .with_targets(ours.map(|target| (target, level)))
        .with_default(level.min(LevelFilter::WARN));
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let registry = tracing_subscriber::registry();
    let _ = match format {
        LogFormat::Text => {
            let layer = layer.with_ansi(false).event_format(Plain).with_filter(filter);
            tracing::subscriber::set_global_default(registry.with(layer))
        }
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_filter(filter);
            tracing::subscriber::set_global_default(registry.with(layer))
        }
    };
}

/// Formats log entries like other lines that plumb prints.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = match *event.metadata().level() {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            Level::INFO => "",
            Level::DEBUG => "debug: ",
            Level::TRACE => "trace: ",
        };
        let mut text = String::new();
        context.field_format().format_fields(Writer::new(&mut text), event)?;
        writeln!(writer, "plumb: {level}{}", visible(&text))
    }
}

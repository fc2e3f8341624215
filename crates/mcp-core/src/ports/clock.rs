use std::{fmt, time::Duration};

use super::BoxFuture;

/// The source of time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Time since some fixed moment; monotonic.
    fn elapsed(&self) -> Duration;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

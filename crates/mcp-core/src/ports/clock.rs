use std::{fmt, time::Duration};

use super::BoxFuture;

/// Where time comes from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn elapsed(&self) -> Duration;

    /// Completes after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

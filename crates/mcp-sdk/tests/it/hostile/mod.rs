//! Bad input through the whole stack, over every transport: every caller gets a response or an
//! error, nothing hangs, and the conversation continues where possible.

mod bare;
mod bytes;
mod calls;
mod garbage;
mod http;
mod load;
mod messages;
mod server;
mod wire;

use std::time::Duration;

/// A hang is a failure.
async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("no timeout")
}

/// The member of a modern request's `_meta` that names its revision.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The member of a modern request's `_meta` that declares the client's capabilities.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The member of a modern request's `_meta` that names the client.
pub(crate) const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The member of a modern result's `_meta` that names the server.
pub(crate) const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The member of a notification's `_meta` that names the subscription it is for.
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

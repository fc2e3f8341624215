/// Which of MCP's restrictions on the JSON-RPC 2.0 envelope a profile lifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent freedoms, none of them a state")]
pub(crate) struct EnvelopePolicy {
    /// Ids may be null, including those of requests and results.
    pub(crate) null_ids: bool,
    /// Ids may be numbers with a fraction.
    pub(crate) fractional_ids: bool,
    /// `params` may be an array, and a result may be anything.
    pub(crate) positional_params: bool,
    /// Batches are allowed in every revision.
    pub(crate) batches: bool,
    /// Whether a method's name distinguishes a request from a notification, not the `id` alone.
    pub(crate) kind_by_name: bool,
    /// Every fault of an envelope is reported, rather than only the root cause.
    pub(crate) every_fault: bool,
}

impl EnvelopePolicy {
    /// The envelope of MCP.
    pub(crate) const MCP: EnvelopePolicy = EnvelopePolicy {
        null_ids: false,
        fractional_ids: false,
        positional_params: false,
        batches: false,
        kind_by_name: true,
        every_fault: false,
    };
    /// Plain JSON-RPC 2.0.
    pub(crate) const JSON_RPC: EnvelopePolicy = EnvelopePolicy {
        null_ids: true,
        fractional_ids: true,
        positional_params: true,
        batches: true,
        kind_by_name: false,
        every_fault: true,
    };
    /// The erlmcp stack's: one message at a time, with ids that are null, strings or integers.
    pub(crate) const ERLMCP: EnvelopePolicy = EnvelopePolicy {
        fractional_ids: false,
        batches: false,
        kind_by_name: true,
        ..EnvelopePolicy::JSON_RPC
    };
}

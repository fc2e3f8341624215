//! Measurements of one round.

use std::time::Duration;

/// Timings of the requests of one round.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// From the first request to the last answer.
    pub took: Duration,
    /// From each request to its answer.
    pub latencies: Vec<Duration>,
}

/// Summary of all rounds.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// Requests per second in the median round.
    pub per_second: f64,
    /// Median latency.
    pub p50: Duration,
    /// 99th percentile of the latency.
    pub p99: Duration,
    /// The CPU time of the proxy per message: a request and its answer are two.
    pub work: Option<Duration>,
}

/// Summarises rounds in which the proxy used `worked` of CPU time in total.
#[expect(clippy::cast_precision_loss, reason = "counts of requests")]
pub fn summary(samples: &[Sample], worked: Option<Duration>) -> Summary {
    let mut rates: Vec<f64> = samples
        .iter()
        .map(|sample| sample.latencies.len() as f64 / sample.took.as_secs_f64())
        .collect();
    rates.sort_by(f64::total_cmp);
    let mut latencies: Vec<Duration> =
        samples.iter().flat_map(|sample| sample.latencies.iter().copied()).collect();
    latencies.sort_unstable();
    let at = |percent: usize| {
        latencies.get(latencies.len() * percent / 100).copied().unwrap_or_default()
    };
    let messages = (latencies.len() * 2).max(1) as f64;
    let work = worked.map(|worked| worked.div_f64(messages));
    let per_second = rates.get(rates.len() / 2).copied().unwrap_or_default();
    Summary { per_second, p50: at(50), p99: at(99), work }
}

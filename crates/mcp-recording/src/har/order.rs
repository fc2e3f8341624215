//! The order in which the parts of a capture were probably observed. A capture only says when each
//! exchange began and how long it took.

use std::collections::HashMap;

/// When things happened, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Period {
    pub(super) start: f64,
    pub(super) end: f64,
}

/// Exchanges without a time follow those before them.
pub(super) fn periods(exchanges: impl Iterator<Item = (Option<f64>, f64)>) -> Vec<Period> {
    let mut last = 0.0_f64;
    let period = |(start, time): (Option<f64>, f64)| {
        let start = start.unwrap_or(last);
        last = start;
        Period { start, end: start + time }
    };
    exchanges.map(period).collect()
}

/// When the events of a stream were sent: as late as possible, but before what answers them. `asked`
/// has the id of the request that each event carries, `answered` when the client sent answers.
pub(super) fn event_times(
    period: Period,
    asked: &[Option<Vec<u8>>],
    answered: &HashMap<Vec<u8>, f64>,
) -> Vec<f64> {
    let mut latest = period.end;
    let mut times: Vec<f64> = asked
        .iter()
        .rev()
        .map(|id| {
            let answer = id.as_ref().and_then(|id| answered.get(id));
            // An answer sent before the stream began belongs to another request.
            if let Some(answer) = answer.filter(|answer| **answer >= period.start) {
                latest = latest.min(*answer);
            }
            latest
        })
        .collect();
    times.reverse();
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_before_it_is_answered() {
        let period = Period { start: 10.0, end: 100.0 };
        let id = |id: &str| Some(id.as_bytes().to_vec());
        let answered = HashMap::from([(b"1".to_vec(), 40.0), (b"2".to_vec(), 5.0)]);
        let times = event_times(period, &[None, id("1"), None, id("2"), id("3")], &answered);
        assert_eq!(times, [40.0, 40.0, 100.0, 100.0, 100.0]);
    }

    #[test]
    fn what_has_no_time_follows_what_is_before_it() {
        let found = periods([(Some(5.0), 2.0), (None, 0.0), (Some(9.0), 1.0)].into_iter());
        let expected = [(5.0, 7.0), (5.0, 5.0), (9.0, 10.0)];
        assert_eq!(found, expected.map(|(start, end)| Period { start, end }));
    }
}

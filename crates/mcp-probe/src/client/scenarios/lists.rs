//! Scenarios of paginated lists.

use mcp_rules::client_behaviour as rules;
use serde_json::{Value, json};

use crate::client::{
    act::Act,
    cue::Cue,
    judge::Verdicts,
    offer,
    overview::NormalBehaviour,
    scenario::{Needs, Scenario},
    scenario_run::ScenarioRun,
};

const CURSOR: &str = "plumb/page=2&ü";

pub(super) static SCENARIOS: &[Scenario] =
    &[Scenario::new("lists/pages", "the list of tools has two pages")
        .needing(Needs::Method("tools/list"))
        .script(pages)
        .judged_by(judge_pages)];

fn pages(cue: &Cue<'_>) -> Option<Vec<Act>> {
    let mut result = (cue.method == "tools/list").then(|| cue.plain_result())?;
    let mut tools = offer::tools();
    let second = tools.split_off(1);
    if cue.params["cursor"].is_string() {
        result["tools"] = json!(second);
    } else {
        result["tools"] = json!(tools);
        result["nextCursor"] = json!(CURSOR);
    }
    Some(vec![Act::Tell(cue.result(result))])
}

fn judge_pages(run: &ScenarioRun, _: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    for play in &run.plays {
        let state = play.state();
        let lists: Vec<_> =
            state.heard.iter().filter(|heard| heard.method() == Some("tools/list")).collect();
        let Some(last) = lists.last() else { continue };
        let follows = lists
            .iter()
            .any(|list| list.value.pointer("/params/cursor").is_some_and(Value::is_string));
        if !follows {
            let message = "the answer to `tools/list` has a `nextCursor`, but the client did not request the next page";
            let help = "repeat the request with `cursor` as long as there is a `nextCursor`";
            verdicts.fail(&rules::NEXT_PAGE_NOT_FETCHED, play, last.line, message, help);
        }
    }
}

//! The steps that are possible with what a server offers.

use mcp_core::{Era, Revision};
use serde_json::{Map, Value, json};

use super::step::{Step, are_valid};
use crate::{
    Offer, Random, Seed, Settings,
    discover::LISTS,
    protocol::{SESSIONS, changes},
    values::Values,
    wire::WireKind,
};

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// Maximum draws for a step that may follow.
const DRAWS: usize = 16;

/// All steps that a walk may choose from.
pub(super) struct Menu {
    lists: Vec<List>,
    tools: Vec<Tool>,
    resources: Vec<String>,
    prompts: Vec<Prompt>,
    completions: Vec<(Value, String)>,
    subscribes: bool,
    /// Changes that can be subscribed to.
    changes: Option<Value>,
    logs: bool,
    /// Whether GET may open a stream.
    streams: bool,
    /// Tools that run as tasks.
    tasks: Vec<Tool>,
    /// Requests that can be made about tasks.
    about_tasks: Vec<&'static str>,
}

struct List {
    /// Its index in [`LISTS`].
    index: usize,
    has_pages: bool,
    /// Whether its changes are announced.
    is_announced: bool,
}

struct Tool {
    name: String,
    /// Whether a call may change something.
    writes: bool,
    /// Sample arguments given by the user.
    samples: Vec<Value>,
    values: Option<Values>,
}

struct Prompt {
    name: String,
    /// Names, with whether they are required.
    arguments: Vec<(String, bool)>,
}

/// The kinds of steps.
#[derive(Clone, Copy)]
enum Kind {
    Greet,
    List,
    NextPage,
    Call,
    Cancel,
    Read,
    Prompt,
    Complete,
    Subscribe,
    Unsubscribe,
    Listen,
    Unlisten,
    OpenStream,
    CloseStream,
    Level,
    Task,
    OfTask,
}

impl Menu {
    pub(super) fn new(
        offer: &Offer,
        revision: Revision,
        wire: WireKind,
        settings: &Settings,
    ) -> Menu {
        let is_legacy = revision.era() == Era::Legacy;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let lists = LISTS.iter().enumerate().filter_map(|(index, (method, capability, _))| {
            let has_pages = *offer.pages.get(method)? > 1;
            let is_announced = offer.has(&format!("{capability}/listChanged"));
            Some(List { index, has_pages, is_announced })
        });
        let permitted = offer.tools.iter().filter(|tool| settings.safety.permits(tool).is_ok());
        let tool = |tool: &Value| {
            let name = text(&tool["name"])?;
            let samples = settings.arguments.get(&name).cloned().unwrap_or_default();
            let values = Values::of(&tool["inputSchema"], revision);
            let writes = tool.pointer("/annotations/readOnlyHint") != Some(&Value::Bool(true));
            Some(Tool { name, writes, samples, values })
        };
        let support = |tool: &Value| tool["execution"]["taskSupport"].clone();
        let plain = permitted.clone().filter(|tool| support(tool) != "required");
        let has_tasks =
            revision == Revision::V2025_11_25 && offer.has("/tasks/requests/tools/call");
        let tasks = permitted.filter(|tool| {
            has_tasks && (support(tool) == "optional" || support(tool) == "required")
        });
        let about_tasks = [
            ("tasks/get", has_tasks),
            ("tasks/result", has_tasks),
            ("tasks/list", has_tasks && offer.has("/tasks/list")),
            ("tasks/cancel", has_tasks && offer.has("/tasks/cancel")),
        ];
        let prompts: Vec<Prompt> = offer
            .prompts
            .iter()
            .filter_map(|prompt| {
                let arguments = prompt["arguments"].as_array().into_iter().flatten();
                let arguments = arguments.filter_map(|argument| {
                    Some((text(&argument["name"])?, argument["required"] == true))
                });
                Some(Prompt { name: text(&prompt["name"])?, arguments: arguments.collect() })
            })
            .collect();
        let mut completions = Vec::new();
        if offer.has("/completions") {
            for prompt in &prompts {
                let reference = json!({ "type": "ref/prompt", "name": prompt.name });
                let arguments = prompt.arguments.iter();
                completions.extend(arguments.map(|(name, _)| (reference.clone(), name.clone())));
            }
        }
        Menu {
            lists: lists.collect(),
            tools: plain.filter_map(tool).collect(),
            tasks: tasks.filter_map(tool).collect(),
            about_tasks: about_tasks.iter().filter(|it| it.1).map(|it| it.0).collect(),
            resources: offer.resources.iter().filter_map(|it| text(&it["uri"])).collect(),
            prompts,
            completions,
            subscribes: is_legacy && offer.has("/resources/subscribe"),
            logs: is_legacy && offer.has("/logging"),
            changes: (!is_legacy).then(|| changes(offer)).flatten(),
            streams: wire == WireKind::Http && SESSIONS.contains(revision),
        }
    }

    /// Generates a walk of `steps` steps.
    pub(super) fn walk(&self, random: &mut Random, steps: usize) -> Vec<Step> {
        let mut walk = Vec::with_capacity(steps);
        // Many clients open the stream first.
        if self.streams && random.one_in(2) {
            walk.push(Step::OpenStream);
        }
        if let Some(changes) = &self.changes
            && self.writes()
            && random.one_in(2)
        {
            walk.push(Step::Listen(changes.clone()));
        }
        // List first, so that later changes can be noticed.
        if self.writes()
            && let Some(list) = self.announced(random)
        {
            walk.push(list);
        }
        while walk.len() < steps {
            let drawn = (0..DRAWS).any(|_| {
                let Some(step) = self.draw(random, &walk) else { return false };
                walk.push(step);
                let may_follow = are_valid(&walk);
                if !may_follow {
                    walk.pop();
                }
                may_follow
            });
            if !drawn {
                walk.push(Step::Greet);
            }
        }
        walk
    }

    /// Simpler versions of a step, if there are any.
    pub(super) fn simpler(&self, step: &Step) -> Vec<Step> {
        let mut simpler = Vec::new();
        match step {
            Step::Call { tool, arguments, progress, cancel } => {
                let call = |arguments: &Value, progress, cancel| {
                    let (tool, arguments) = (tool.clone(), arguments.clone());
                    Step::Call { tool, arguments, progress, cancel }
                };
                let known = self.tools.iter().find(|known| known.name == *tool);
                if let Some(least) = known.and_then(Tool::least) {
                    simpler.push(call(&least, false, false));
                    simpler.push(call(&least, *progress, *cancel));
                }
                simpler.push(call(arguments, false, *cancel));
                simpler.push(call(arguments, *progress, false));
            }
            Step::Task { tool, .. } => {
                let known = self.tasks.iter().find(|known| known.name == *tool);
                let least = known.and_then(Tool::least);
                simpler.extend(least.map(|arguments| Step::Task { tool: tool.clone(), arguments }));
            }
            Step::Prompt { name, .. } => {
                let prompt = self.prompts.iter().find(|prompt| prompt.name == *name);
                simpler.extend(prompt.map(|prompt| prompt.step(|_| false)));
            }
            Step::Complete { reference, argument, .. } => simpler.push(Step::Complete {
                reference: reference.clone(),
                argument: argument.clone(),
                value: String::new(),
            }),
            Step::Level(_) => simpler.push(Step::Level(LEVELS[0])),
            _ => {}
        }
        simpler.retain(|candidate| candidate != step);
        simpler
    }

    fn kinds(&self) -> Vec<Kind> {
        let has_tools = !self.tools.is_empty();
        let subscribes = self.subscribes && !self.resources.is_empty();
        let all = [
            (Kind::Greet, true),
            (Kind::List, !self.lists.is_empty()),
            (Kind::NextPage, !self.lists.is_empty()),
            // Twice, since calls are the most common requests.
            (Kind::Call, has_tools),
            (Kind::Call, has_tools),
            (Kind::Cancel, has_tools),
            (Kind::Read, !self.resources.is_empty()),
            (Kind::Prompt, !self.prompts.is_empty()),
            (Kind::Complete, !self.completions.is_empty()),
            (Kind::Subscribe, subscribes),
            (Kind::Unsubscribe, subscribes),
            (Kind::Listen, self.changes.is_some()),
            (Kind::Unlisten, self.changes.is_some()),
            (Kind::OpenStream, self.streams),
            (Kind::CloseStream, self.streams),
            (Kind::Level, self.logs),
            (Kind::Task, !self.tasks.is_empty()),
            (Kind::OfTask, !self.tasks.is_empty()),
        ];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect()
    }

    /// Draws a step, which may not be valid at this point.
    fn draw(&self, random: &mut Random, walk: &[Step]) -> Option<Step> {
        // After starting a task, ask about it.
        let has_task = matches!(walk.last(), Some(Step::Task { .. } | Step::OfTask(_)));
        let kind = if has_task && !random.one_in(4) {
            Kind::OfTask
        } else {
            *random.choose(&self.kinds())?
        };
        // After a change, look at the lists.
        let has_written = match walk.last() {
            Some(Step::Call { tool, cancel: false, .. }) => {
                self.tools.iter().any(|known| known.writes && known.name == *tool)
            }
            _ => false,
        };
        if has_written
            && random.one_in(2)
            && let Some(list) = self.announced(random)
        {
            return Some(list);
        }
        Some(match kind {
            Kind::Greet => Step::Greet,
            Kind::List => {
                let list = random.choose(&self.lists)?;
                if list.has_pages && random.one_in(2) {
                    Step::ListAll(list.index)
                } else {
                    Step::List(list.index)
                }
            }
            Kind::NextPage => Step::NextPage(random.choose(&self.lists)?.index),
            Kind::Call | Kind::Cancel => {
                let tool = self.tool(random)?;
                let (name, arguments) = (tool.name.clone(), tool.arguments(random)?);
                let (progress, cancel) = (random.one_in(3), matches!(kind, Kind::Cancel));
                Step::Call { tool: name, arguments, progress, cancel }
            }
            Kind::Read => Step::Read(random.choose(&self.resources)?.clone()),
            Kind::Prompt => random.choose(&self.prompts)?.step(|_| random.one_in(2)),
            Kind::Complete => {
                let (reference, argument) = random.choose(&self.completions)?.clone();
                let value = (*random.choose(&["", "a", "p"])?).to_owned();
                Step::Complete { reference, argument, value }
            }
            Kind::Subscribe => Step::Subscribe(random.choose(&self.resources)?.clone()),
            Kind::Unsubscribe => {
                let subscribed: Vec<&String> = walk
                    .iter()
                    .filter_map(|step| match step {
                        Step::Subscribe(uri) => Some(uri),
                        _ => None,
                    })
                    .collect();
                Step::Unsubscribe((*random.choose(&subscribed)?).clone())
            }
            Kind::Listen => Step::Listen(self.changes.clone()?),
            Kind::Unlisten => Step::Unlisten,
            Kind::OpenStream => Step::OpenStream,
            Kind::CloseStream => Step::CloseStream,
            Kind::Level => Step::Level(random.choose(&LEVELS)?),
            Kind::Task => {
                let tool = random.choose(&self.tasks)?;
                Step::Task { tool: tool.name.clone(), arguments: tool.arguments(random)? }
            }
            Kind::OfTask => Step::OfTask(random.choose(&self.about_tasks)?),
        })
    }
}

impl Menu {
    /// Whether a call may change a list.
    fn writes(&self) -> bool {
        self.tools.iter().any(|tool| tool.writes) && self.lists.iter().any(|list| list.is_announced)
    }

    /// A step that reads a list whose changes are announced.
    fn announced(&self, random: &mut Random) -> Option<Step> {
        let announced: Vec<&List> = self.lists.iter().filter(|list| list.is_announced).collect();
        let list = random.choose(&announced)?;
        Some(if list.has_pages { Step::ListAll(list.index) } else { Step::List(list.index) })
    }

    /// A tool to call, preferring those that write, since they change something.
    fn tool(&self, random: &mut Random) -> Option<&Tool> {
        let writing: Vec<&Tool> = self.tools.iter().filter(|tool| tool.writes).collect();
        if !writing.is_empty() && random.one_in(3) {
            return random.choose(&writing).copied();
        }
        random.choose(&self.tools)
    }
}

impl Tool {
    fn arguments(&self, random: &mut Random) -> Option<Value> {
        if !self.samples.is_empty() {
            return random.choose(&self.samples).cloned();
        }
        let values = self.values.as_ref()?;
        let arguments = if random.one_in(3) { values.full(random) } else { values.any(random) };
        arguments.filter(Value::is_object)
    }

    fn least(&self) -> Option<Value> {
        if let Some(sample) = self.samples.first() {
            return Some(sample.clone());
        }
        // The random stream does not matter: the smallest value hardly depends on it.
        let values = self.values.as_ref()?;
        values.least(&mut Seed::default().stream(&self.name)).filter(Value::is_object)
    }
}

impl Prompt {
    /// A step for the prompt with its required arguments, and those chosen by `wants`.
    fn step(&self, mut wants: impl FnMut(&str) -> bool) -> Step {
        let arguments = self.arguments.iter();
        let chosen = arguments.filter(|(name, is_required)| *is_required || wants(name));
        let arguments: Map<String, Value> =
            chosen.map(|(name, _)| (name.clone(), json!("plumb"))).collect();
        Step::Prompt { name: self.name.clone(), arguments: arguments.into() }
    }
}

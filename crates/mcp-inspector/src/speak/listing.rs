//! Requests the lists of a server.

use std::time::Duration;

use super::{
    InspectorClient,
    offer::{LISTS, MOST_PAGES, Offering},
    text,
};

/// How long a server may take to list something.
const LISTING: Duration = Duration::from_secs(30);
/// Pause before listing everything again.
const BETWEEN_LISTINGS: Duration = Duration::from_millis(100);

impl InspectorClient {
    pub(super) async fn list_again(self, generation: u64) {
        self.list(generation).await;
    }

    /// Requests all lists of the server, and again if something changed meanwhile.
    pub(super) async fn list(&self, generation: u64) {
        {
            let mut state = self.lock();
            if state.generation != generation {
                return;
            }
            if std::mem::replace(&mut state.is_listing, true) {
                state.must_list_again = true;
                return;
            }
        }
        loop {
            self.list_once(generation).await;
            let goes_on = self.has_changed_meanwhile(generation);
            self.tell();
            if !goes_on {
                return;
            }
            // Servers announce changes one by one.
            tokio::time::sleep(BETWEEN_LISTINGS).await;
        }
    }

    /// Whether everything has to be listed again; if not, listing is finished.
    fn has_changed_meanwhile(&self, generation: u64) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        state.is_listing = std::mem::take(&mut state.must_list_again);
        state.is_listing
    }

    async fn list_once(&self, generation: u64) {
        let capabilities = self.with(generation, |conversation| {
            let text = conversation.facts.capabilities.as_ref().map(|it| it.get().to_owned());
            text.unwrap_or_else(|| "{}".to_owned())
        });
        let capabilities = capabilities.unwrap_or_default();
        let mut offering = Offering::default();
        for (method, member, capability) in LISTS {
            let has = text::read(&capabilities, |it| it.get(capability).is_some());
            if has != Some(true) {
                continue;
            }
            if let Err(problem) = self.list_all(generation, method, member, &mut offering).await {
                offering.problems.push(format!("{method}: {problem}"));
            }
        }
        self.with(generation, |conversation| {
            // Rows arrive separately from answers, and may already be there.
            for call in &conversation.calls {
                if let Some(answer) = call.answer {
                    offering.place(&call.id, answer);
                }
            }
            offering.version = conversation.offering.version + 1;
            conversation.offering = offering;
        });
    }

    async fn list_all(
        &self,
        generation: u64,
        method: &str,
        member: &'static str,
        offering: &mut Offering,
    ) -> Result<(), String> {
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.as_ref().map(|cursor| format!(r#"{{"cursor":{cursor}}}"#));
            let (id, answer) = self.ask(generation, method, params.as_deref())?;
            let answer = match tokio::time::timeout(LISTING, answer).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => return Err("the conversation ended without an answer".to_owned()),
                Err(_) => return Err("the server does not answer".to_owned()),
            };
            let frame = self.with(generation, |conversation| {
                conversation.calls.iter().rev().find(|call| call.id == id)?.answer
            });
            let answer = String::from_utf8_lossy(&answer);
            cursor = offering.add(id, member, frame.flatten(), &answer)?;
            if cursor.is_none() {
                return Ok(());
            }
        }
        Err(format!("there are more than {MOST_PAGES} pages"))
    }
}

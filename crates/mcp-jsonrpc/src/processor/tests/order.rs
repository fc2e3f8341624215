//! Outgoing messages are judged in the order in which they are sent.

use mcp_core::Framing;

use super::*;

/// Delays each message before it is sent, the earlier ones longer than the later ones. With HTTP
/// exchanges each is sent at once, and then waits for an answer.
#[derive(Debug)]
struct SlowWire {
    framing: Framing,
    sent: Mutex<Vec<String>>,
    waits: AtomicUsize,
}

impl Transport for SlowWire {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(std::future::pending())
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(async move {
            let text = String::from_utf8_lossy(&outbound.bytes).into_owned();
            let push = |text| self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            let waits = self.waits.load(Ordering::Relaxed).saturating_sub(10);
            self.waits.store(waits, Ordering::Relaxed);
            if self.framing == Framing::HttpExchanges {
                push(text);
                std::future::pending::<()>().await;
                return Ok(());
            }
            for _ in 0..waits {
                tokio::task::yield_now().await;
            }
            push(text);
            Ok(())
        })
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Writes down what it judges.
#[derive(Debug)]
struct Notebook(Arc<Mutex<Vec<String>>>);

impl Gate for Notebook {
    fn judge(&mut self, _: Side, message: &Parsed) -> Verdict {
        let text = String::from_utf8_lossy(message.as_bytes()).into_owned();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        Verdict::PASS
    }

    fn judge_unreadable(&mut self, _: Side, _: &[u8], _: &SyntaxError) -> Verdict {
        Verdict::PASS
    }
}

#[tokio::test]
async fn tasks_that_send_side_by_side_are_judged_in_the_order_of_the_wire() {
    const TASKS: usize = 20;
    for framing in [Framing::Lines, Framing::Messages, Framing::HttpExchanges] {
        let wire = Arc::new(SlowWire {
            framing,
            sent: Mutex::default(),
            waits: AtomicUsize::new(10 * TASKS),
        });
        let judged = Arc::default();
        let gate = Box::new(Notebook(Arc::clone(&judged)));
        let transport = JsonRpcTransport::new(Arc::clone(&wire), Side::Server, gate);
        let settings = ProcessorSettings::new(Arc::new(TestClock));
        let processor = JsonRpcProcessor::with_handler(transport, Arc::new(Toy(None)), settings);
        let sending: Vec<_> = (0..TASKS)
            .map(|number| {
                let peer = processor.peer();
                let note = Notification { method: format!("note-{number}").into(), params: None };
                tokio::spawn(async move { peer.notify(note).await })
            })
            .collect();
        let sent = || wire.sent.lock().unwrap().clone();
        for _ in 0..100_000 {
            if sent().len() == TASKS {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(sent().len(), TASKS, "{framing:?}: nobody waits for another's exchange");
        assert_eq!(*judged.lock().unwrap(), sent(), "{framing:?}");
        sending.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

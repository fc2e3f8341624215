use serde_json::{Value, json};

/// What happens to an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Whole,
    /// One side closes its connection, after so many thousandths of what it sends or reads.
    Killed(Hand, u64),
}

/// Who closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hand {
    Client,
    Server,
}

impl Fate {
    pub(super) fn is_kill(self) -> bool {
        self != Fate::Whole
    }
}

/// One exchange: both sides know it from the numbers of the client and the request.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) client: u64,
    pub(super) seq: u64,
    pub(super) fate: Fate,
    /// Whether the answer is an event stream.
    pub(super) is_stream: bool,
    /// Notifications before the answer.
    pub(super) steps: u64,
    /// Whether a client that kills does so while it sends; else while it reads.
    pub(super) while_sending: bool,
    padding: usize,
}

impl Plan {
    pub(super) fn of(client: u64, seq: u64) -> Plan {
        let mut dice = Dice::new(client, seq);
        let is_stream = dice.roll(2) == 0;
        let steps = if is_stream { dice.roll(8) } else { 0 };
        let place = dice.roll(1000);
        let fate = match dice.roll(10) {
            0 => Fate::Killed(Hand::Client, place),
            1 => Fate::Killed(Hand::Server, place),
            _ => Fate::Whole,
        };
        let padding = if dice.roll(50) == 0 { 200_000 } else { 500 };
        let padding = usize::try_from(dice.roll(padding)).unwrap();
        let while_sending = dice.roll(2) == 0;
        Plan { client, seq, fate, is_stream, steps, while_sending, padding }
    }

    /// The same, but only the server kills.
    pub(super) fn by_server(client: u64, seq: u64) -> Plan {
        let mut plan = Plan::of(client, seq);
        if matches!(plan.fate, Fate::Killed(Hand::Client, _)) {
            plan.fate = Fate::Whole;
        }
        plan
    }

    /// Whether the client closes its connection before all of the request is sent.
    pub(super) fn is_cut_in_request(&self) -> bool {
        self.while_sending && matches!(self.fate, Fate::Killed(Hand::Client, _))
    }

    /// How many messages are sent.
    pub(super) fn messages(&self) -> u64 {
        2 + self.steps
    }

    pub(super) fn request(&self) -> String {
        let meta = json!({ "progressToken": self.seq });
        let params = json!({
            "_meta": meta, "client": self.client, "seq": self.seq, "padding": self.padding(),
        });
        json!({ "jsonrpc": "2.0", "id": self.seq, "method": "x/sequence", "params": params })
            .to_string()
    }

    /// Reads a request; it must be as it was sent.
    #[track_caller]
    pub(super) fn of_request(text: &[u8]) -> Plan {
        let message: Value = serde_json::from_slice(text).expect("only whole requests arrive");
        let number = |name: &str| message["params"][name].as_u64().unwrap();
        let plan = Plan::of(number("client"), number("seq"));
        assert_eq!(std::str::from_utf8(text), Ok(&*plan.request()), "it arrives as it was sent");
        plan
    }

    /// Everything that the server sends.
    pub(super) fn messages_of_server(&self) -> impl Iterator<Item = String> {
        (0..self.steps).map(|step| self.step(step)).chain([self.answer()])
    }

    /// How much of `length` bytes the server sends before it kills; never all of it.
    pub(super) fn cut(&self, length: usize) -> Option<usize> {
        let Fate::Killed(Hand::Server, place) = self.fate else { return None };
        let part = length * usize::try_from(place).unwrap() / 1000;
        Some(if place < 300 { 0 } else { part.min(length - 8) })
    }

    fn step(&self, step: u64) -> String {
        let params = json!({ "progressToken": self.seq, "progress": step });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
            .to_string()
    }

    fn answer(&self) -> String {
        json!({ "jsonrpc": "2.0", "id": self.seq, "result": self.result() }).to_string()
    }

    pub(super) fn result(&self) -> Value {
        json!({ "client": self.client, "seq": self.seq, "padding": self.padding() })
    }

    /// Differs from exchange to exchange, so that a mix-up shows.
    fn padding(&self) -> String {
        let word = format!("{}.{}.", self.client, self.seq);
        word.chars().cycle().take(self.padding).collect()
    }
}

/// Looks random, and is always the same.
struct Dice(u64);

impl Dice {
    fn new(client: u64, seq: u64) -> Dice {
        let mut dice = Dice((client << 40) ^ seq ^ 0x2545_f491_4f6c_dd1d);
        dice.roll(2);
        dice
    }

    fn roll(&mut self, sides: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides.max(1)
    }
}

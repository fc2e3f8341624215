use crate::conversation::{Event, Known, Notes, Remembered};

/// A family of rules and the state it keeps for itself.
pub(crate) trait Family: Default {
    /// Whether a message concerns the family; if not, `follow` is not called for it.
    fn concerns(event: &Event<'_>) -> bool;

    /// Judges and records a message. `asked` belongs to the request being made.
    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    );

    /// Follows the message if it concerns the family.
    fn follow_if_concerned(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if Self::concerns(event) {
            self.follow(event, asked, known, notes);
        }
    }

    /// Resets the state when a new session begins on the same endpoint.
    fn restart(&mut self) {
        *self = Self::default();
    }
}

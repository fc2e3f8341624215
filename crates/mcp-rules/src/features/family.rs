use crate::conversation::{Asked, Event, Known, Notes};

/// A part of the rules, with what it remembers for itself.
pub(crate) trait Family: Default {
    /// Whether the family has anything to do with a message; if not, it is not asked to follow it.
    fn concerns(event: &Event<'_>) -> bool;

    /// Judges a message and takes it in. `asked` belongs to a request that is just being made.
    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Asked,
        known: &Known<'_>,
        notes: &mut Notes,
    );

    /// Follows a message that concerns the family.
    fn follow_if_concerned(
        &mut self,
        event: &Event<'_>,
        asked: &mut Asked,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if Self::concerns(event) {
            self.follow(event, asked, known, notes);
        }
    }

    /// A new session begins on the same endpoint.
    fn restart(&mut self) {
        *self = Self::default();
    }
}

//! Numbers compared by value: exactly for 64-bit integers, as doubles beyond.

use std::cmp::Ordering;

use mcp_json::Node;

/// A number in a schema or a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn of_node(node: Node<'_>) -> Option<Number> {
        if let Some(value) = node.as_i64() {
            return Some(Number::Integer(value.into()));
        }
        if let Some(value) = node.as_u64() {
            return Some(Number::Integer(value.into()));
        }
        if let Some(value) = node.as_f64() {
            return Some(Number::Float(value));
        }
        // Beyond the range of a double only the sign matters.
        let sign = if node.number_literal()?.starts_with('-') { -1.0 } else { 1.0 };
        Some(Number::Float(sign * f64::INFINITY))
    }

    pub(crate) fn of_literal(number: &serde_json::Number) -> Option<Number> {
        if let Some(value) = number.as_i64() {
            return Some(Number::Integer(value.into()));
        }
        if let Some(value) = number.as_u64() {
            return Some(Number::Integer(value.into()));
        }
        number.as_f64().map(Number::Float)
    }

    pub(crate) fn to_json(self) -> serde_json::Value {
        match self {
            Number::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                // Only 64-bit integers are ever stored as such.
                _ => serde_json::Value::Null,
            },
            Number::Float(value) => value.into(),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        match (*self, *other) {
            (Number::Integer(left), Number::Integer(right)) => left.partial_cmp(&right),
            (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
            (Number::Integer(left), Number::Float(right)) => integer_to_float(left, right),
            (Number::Float(left), Number::Integer(right)) => {
                integer_to_float(right, left).map(Ordering::reverse)
            }
        }
    }
}

/// Compares without rounding the integer to a double: 2⁵³ + 1 is greater than 2⁵³.
fn integer_to_float(integer: i128, float: f64) -> Option<Ordering> {
    // Above every 64-bit integer, and exact as a double.
    const BEYOND: f64 = 36_893_488_147_419_103_232.0;
    if float.is_nan() {
        return None;
    }
    if float >= BEYOND {
        return Some(Ordering::Less);
    }
    if float <= -BEYOND {
        return Some(Ordering::Greater);
    }
    #[expect(clippy::cast_possible_truncation, reason = "in range, and rounded towards zero")]
    let whole = float.trunc() as i128;
    let by_fraction = 0.0_f64.partial_cmp(&float.fract());
    Some(integer.cmp(&whole).then(by_fraction.unwrap_or(Ordering::Equal)))
}

#[cfg(test)]
mod tests {
    use super::Number::{Float, Integer};

    #[test]
    fn integers_and_doubles_compare_by_value() {
        assert_eq!(Integer(1), Float(1.0));
        assert!(Integer(1) < Float(1.5));
        assert!(Integer(-1) > Float(-1.5));
        assert!(Float(-0.5) < Integer(0));
        assert!(Integer(9_007_199_254_740_993) > Float(9_007_199_254_740_992.0));
        assert!(Integer(i128::from(u64::MAX)) < Float(f64::INFINITY));
        assert!(Integer(i128::from(i64::MIN)) > Float(-1e300));
    }
}

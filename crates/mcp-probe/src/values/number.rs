use serde_json::{Number, Value, json};

use super::shape::Types;
use crate::Random;

/// Bounds beyond this are treated as absent.
const FAR: i128 = 1 << 63;

/// The bounds of a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Range {
    low: Option<Bound>,
    high: Option<Bound>,
    multiple_of: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Bound {
    value: Number,
    is_exclusive: bool,
}

impl Bound {
    fn as_f64(&self) -> f64 {
        self.value.as_f64().unwrap_or_default()
    }
}

impl Range {
    /// Narrows the range by the keywords of a schema.
    pub(super) fn narrow(&mut self, schema: &Value) {
        let bound = |keyword: &str, flag: &str| {
            let value = schema.get(keyword)?.as_number()?.clone();
            // Draft 4 has a boolean beside the bound.
            let is_exclusive = flag.is_empty() || schema.get(flag) == Some(&Value::Bool(true));
            Some(Bound { value, is_exclusive })
        };
        for (keyword, flag) in [("minimum", "exclusiveMinimum"), ("exclusiveMinimum", "")] {
            self.low = tighter(self.low.take(), bound(keyword, flag), |new, old| new > old);
        }
        for (keyword, flag) in [("maximum", "exclusiveMaximum"), ("exclusiveMaximum", "")] {
            self.high = tighter(self.high.take(), bound(keyword, flag), |new, old| new < old);
        }
        self.multiple_of = self.multiple_of.or(schema.get("multipleOf").and_then(Value::as_f64));
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.low.is_some() || self.high.is_some() || self.multiple_of.is_some()
    }

    /// Whether it has both bounds and no other constraints.
    pub(super) fn is_closed(&self) -> bool {
        self.low.is_some() && self.high.is_some()
    }

    /// A small number of these types within the bounds.
    pub(super) fn small(&self, types: Types) -> Option<Value> {
        let (low, high) = self.integers();
        let first = self.aligned(1.clamp(low, high.max(low)));
        if low <= high && first >= low && first <= high {
            return integer(first);
        }
        if !types.has(Types::NUMBER) {
            return None;
        }
        // No integer is valid: take the middle of the bounds, or a number near the only one.
        let (low, high) = (self.low.as_ref(), self.high.as_ref());
        let number = match (low.map(Bound::as_f64), high.map(Bound::as_f64)) {
            (Some(low), Some(high)) => f64::midpoint(low, high),
            (Some(low), None) => low + 0.5,
            (None, Some(high)) => high - 0.5,
            (None, None) => 0.5,
        };
        let number = match self.multiple_of {
            Some(step) if step > 0.0 => (number / step).round() * step,
            _ => number,
        };
        Number::from_f64(number).map(Value::Number)
    }

    /// Any number of these types within the bounds.
    pub(super) fn any(&self, types: Types, random: &mut Random) -> Option<Value> {
        let (low, high) = self.integers();
        let width = (high - low).clamp(0, 2_000);
        // Around zero, if that is within the bounds.
        let start = (-width / 2).clamp(low, (high - width).max(low));
        let offset = random.below(u64::try_from(width + 1).unwrap_or(1));
        let number = self.aligned(start + i128::from(offset));
        if types.has(Types::NUMBER) && self.multiple_of.is_none() && random.one_in(3) {
            let number = f64::from(i32::try_from(number).unwrap_or_default()) + 0.25;
            return Number::from_f64(number).map(Value::Number);
        }
        if low > high { self.small(types) } else { integer(number) }
    }

    /// The numbers at and next to the bounds, and special ones.
    pub(super) fn edges(&self) -> Vec<Value> {
        let (low, high) = self.integers();
        let mut edges: Vec<Value> = Vec::new();
        let bounds = [(&self.low, low, 1), (&self.high, high, -1)];
        for (bound, nearest, inwards) in bounds {
            let Some(bound) = bound else { continue };
            edges.extend((!bound.is_exclusive).then(|| Value::Number(bound.value.clone())));
            edges.extend(integer(nearest));
            edges.extend(integer(nearest + inwards));
        }
        edges.extend([json!(0), json!(1), json!(-1), json!(0.5)]);
        edges
    }

    /// Numbers just outside the bounds, with the keyword that each breaks.
    pub(super) fn outside(&self) -> Vec<(&'static str, Value)> {
        let mut outside = Vec::new();
        let bounds = [
            (&self.low, ["minimum", "exclusiveMinimum"], -1_i64),
            (&self.high, ["maximum", "exclusiveMaximum"], 1),
        ];
        for (bound, keywords, outwards) in bounds {
            let Some(bound) = bound else { continue };
            let keyword = keywords[usize::from(bound.is_exclusive)];
            if bound.is_exclusive {
                outside.push((keyword, Value::Number(bound.value.clone())));
            }
            let next = bound.value.as_i64().and_then(|value| value.checked_add(outwards));
            // Most validators compare floating-point numbers, so it must be outside as a double,
            // too.
            let is_outside = |next: &i64| json!(next).as_f64() != Some(bound.as_f64());
            let beyond = next.filter(is_outside).map(|next| json!(next)).or_else(|| {
                let value = bound.as_f64();
                let step = (value.abs() * 0.01).max(1.0);
                let outwards = if outwards < 0 { -step } else { step };
                Number::from_f64((value + outwards).round()).map(Value::Number)
            });
            outside.extend(beyond.map(|beyond| (keyword, beyond)));
        }
        if let Some(step) = self.multiple_of {
            let base = self.small(Types::NUMBER).and_then(|value| value.as_f64());
            let off = Number::from_f64(base.unwrap_or_default() + step / 2.0);
            outside.extend(off.map(|off| ("multipleOf", Value::Number(off))));
            if step.fract() == 0.0 && step > 1.0 {
                outside.push(("multipleOf", json!(base.unwrap_or_default() + 1.0)));
            }
        }
        outside
    }

    /// The least and the greatest integer within the bounds.
    fn integers(&self) -> (i128, i128) {
        let limit = |bound: &Bound, inwards: i128| {
            let (whole, is_exact) = whole(&bound.value, inwards < 0);
            whole + if bound.is_exclusive && is_exact { inwards } else { 0 }
        };
        let low = self.low.as_ref().map_or(-FAR, |bound| limit(bound, 1));
        let high = self.high.as_ref().map_or(FAR, |bound| limit(bound, -1));
        (low, high)
    }

    /// The next multiple, if `multipleOf` is an integer.
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
    fn aligned(&self, number: i128) -> i128 {
        match self.multiple_of {
            Some(step) if step.fract() == 0.0 && (1.0..9e15).contains(&step) => {
                let step = step as i128;
                number.div_euclid(step) * step + if number.rem_euclid(step) == 0 { 0 } else { step }
            }
            _ => number,
        }
    }
}

fn tighter(
    old: Option<Bound>,
    new: Option<Bound>,
    is_tighter: impl Fn(f64, f64) -> bool,
) -> Option<Bound> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let (is_new, is_same) =
                (is_tighter(new.as_f64(), old.as_f64()), new.value == old.value);
            Some(if is_new || (is_same && new.is_exclusive) { new } else { old })
        }
        (old, new) => new.or(old),
    }
}

/// A bound rounded to an integer within the range, and whether it was an integer.
#[expect(clippy::cast_possible_truncation, reason = "clamped before")]
fn whole(number: &Number, down: bool) -> (i128, bool) {
    if let Some(number) = number.as_i64() {
        return (number.into(), true);
    }
    if let Some(number) = number.as_u64() {
        return (number.into(), true);
    }
    let number = number.as_f64().unwrap_or_default().clamp(-9e18, 9e18);
    let rounded = if down { number.floor() } else { number.ceil() };
    (rounded as i128, number.fract() == 0.0)
}

fn integer(number: i128) -> Option<Value> {
    let signed = i64::try_from(number).ok().map(Value::from);
    signed.or_else(|| u64::try_from(number).ok().map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(schema: &Value) -> Range {
        let mut range = Range::default();
        range.narrow(schema);
        range
    }

    #[test]
    fn small_numbers_are_within_the_bounds() {
        let small = |schema: Value, types| range(&schema).small(types).unwrap_or_default();
        assert_eq!(small(json!({}), Types::INTEGER), json!(1));
        assert_eq!(small(json!({ "minimum": 5 }), Types::INTEGER), json!(5));
        assert_eq!(small(json!({ "exclusiveMaximum": 0 }), Types::INTEGER), json!(-1));
        assert_eq!(small(json!({ "minimum": 3, "multipleOf": 4 }), Types::INTEGER), json!(4));
        assert_eq!(small(json!({ "minimum": 0.2, "maximum": 0.4 }), Types::INTEGER), json!(null));
        let between = json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
        assert_eq!(small(between, Types::NUMBER), json!(0.5));
        let draft_04 = json!({ "minimum": 1, "exclusiveMinimum": true });
        assert_eq!(small(draft_04, Types::INTEGER), json!(2));
    }

    #[test]
    fn numbers_outside_name_what_they_break() {
        let outside = range(&json!({ "minimum": 1, "exclusiveMaximum": 7 })).outside();
        let expected =
            [("minimum", json!(0)), ("exclusiveMaximum", json!(7)), ("exclusiveMaximum", json!(8))];
        assert_eq!(outside, expected);
    }

    #[test]
    fn numbers_outside_are_so_for_floating_point_as_well() {
        for bound in [1_i64 << 60, 9_007_199_254_740_993, i64::MAX] {
            let outside = range(&json!({ "maximum": bound })).outside();
            assert!(outside.iter().all(|(_, value)| value.as_f64() > json!(bound).as_f64()));
            assert_eq!(outside.len(), 1);
        }
    }

    #[test]
    fn extreme_bounds_do_no_harm() {
        for schema in [
            json!({ "minimum": i64::MIN, "maximum": u64::MAX }),
            json!({ "minimum": -1e308, "maximum": 1e308 }),
            json!({ "minimum": 5, "maximum": 3 }),
            json!({ "multipleOf": 1e-300 }),
            json!({ "multipleOf": 0 }),
            json!({ "minimum": u64::MAX }),
        ] {
            let (range, mut random) = (range(&schema), crate::Seed::new(1).stream("x"));
            let _ = (range.small(Types::NUMBER), range.edges(), range.outside());
            let _ = (0..20).map(|_| range.any(Types::NUMBER, &mut random)).count();
        }
    }
}

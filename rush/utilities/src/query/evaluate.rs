//! What a query gives for a value.

use std::cmp::Ordering;

use serde_json::Number;

use super::filter::{Comparison, Filter, Function, Step, integer};
use super::value::Value;
use crate::limits::JSON_RESULTS_MAX;

/// The results of `filter` for `value`, or what is wrong.
pub(super) fn evaluate(filter: &Filter, value: &Value) -> Result<Vec<Value>, String> {
    let results = match filter {
        Filter::Identity => vec![value.clone()],
        Filter::Literal(literal) => vec![literal.clone()],
        Filter::Step(inner, step) => {
            let mut all = Vec::new();
            for value in evaluate(inner, value)? {
                all.extend(follow(&value, step)?);
            }
            all
        }
        Filter::Pipe(first, second) => {
            let mut all = Vec::new();
            for value in evaluate(first, value)? {
                all.extend(bounded(evaluate(second, &value)?)?);
                all = bounded(all)?;
            }
            all
        }
        Filter::Comma(first, second) => [evaluate(first, value)?, evaluate(second, value)?].concat(),
        Filter::Collect(inner) => vec![Value::Array(evaluate(inner, value)?)],
        Filter::Compare(left, comparison, right) => {
            pairs(evaluate(left, value)?, evaluate(right, value)?, |a, b| holds(*comparison, a.order(b)))
        }
        Filter::And(left, right) => {
            pairs(evaluate(left, value)?, evaluate(right, value)?, |a, b| a.is_true() && b.is_true())
        }
        Filter::Or(left, right) => {
            pairs(evaluate(left, value)?, evaluate(right, value)?, |a, b| a.is_true() || b.is_true())
        }
        Filter::Call(function, Some(argument)) => call_with(*function, argument, value)?,
        Filter::Call(Function::Empty, None) => Vec::new(),
        Filter::Call(function, None) => vec![call(*function, value)?],
    };
    bounded(results)
}

fn bounded(results: Vec<Value>) -> Result<Vec<Value>, String> {
    if results.len() > JSON_RESULTS_MAX { Err("too many results".to_owned()) } else { Ok(results) }
}

fn pairs(left: Vec<Value>, right: Vec<Value>, holds: impl Fn(&Value, &Value) -> bool) -> Vec<Value> {
    let all = right.iter().flat_map(|b| left.iter().map(move |a| (a, b)));
    all.take(JSON_RESULTS_MAX + 1).map(|(a, b)| Value::Bool(holds(a, b))).collect()
}

fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::Different => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
    }
}

/// The place that an index means in `length` items.
pub(super) fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    usize::try_from(if index < 0 { length + index } else { index }).ok()
}

fn follow(value: &Value, step: &Step) -> Result<Vec<Value>, String> {
    let skips = match step {
        Step::Key(_, skips) | Step::Index(_, skips) | Step::Slice(_, _, skips) | Step::Each(skips) => *skips,
    };
    let wrong =
        |what: &str| if skips { Ok(Vec::new()) } else { Err(format!("cannot {what} {}", value.kind())) };
    match (step, value) {
        (Step::Key(..) | Step::Index(..) | Step::Slice(..), Value::Null) => Ok(vec![Value::Null]),
        (Step::Key(key, _), Value::Object(_)) => Ok(vec![value.field(key).cloned().unwrap_or(Value::Null)]),
        (Step::Key(key, _), _) => wrong(&format!("take \"{key}\" of")),
        (Step::Index(index, _), Value::Array(items)) => {
            let item = place(*index, items.len()).and_then(|at| items.get(at));
            Ok(vec![item.cloned().unwrap_or(Value::Null)])
        }
        (Step::Index(index, _), _) => wrong(&format!("take item {index} of")),
        (Step::Slice(from, to, _), Value::Array(items)) => {
            let (from, to) = bounds(*from, *to, items.len());
            Ok(vec![Value::Array(items.get(from..to).unwrap_or_default().to_vec())])
        }
        (Step::Slice(from, to, _), Value::String(text)) => {
            let characters: Vec<char> = text.chars().collect();
            let (from, to) = bounds(*from, *to, characters.len());
            Ok(vec![Value::String(characters.get(from..to).unwrap_or_default().iter().collect())])
        }
        (Step::Slice(..), _) => wrong("take a part of"),
        (Step::Each(_), Value::Array(items)) => Ok(items.clone()),
        (Step::Each(_), Value::Object(fields)) => Ok(fields.iter().map(|(_, value)| value.clone()).collect()),
        (Step::Each(_), _) => wrong("go through"),
    }
}

fn bounds(from: Option<i64>, to: Option<i64>, length: usize) -> (usize, usize) {
    let clamp = |index: i64| place(index, length).unwrap_or(0).min(length);
    let (from, to) = (from.map_or(0, clamp), to.map_or(length, clamp));
    (from, to.max(from))
}

fn call_with(function: Function, argument: &Filter, value: &Value) -> Result<Vec<Value>, String> {
    match function {
        Function::Select => {
            let verdicts = evaluate(argument, value)?;
            Ok(verdicts.iter().filter(|verdict| verdict.is_true()).map(|_| value.clone()).collect())
        }
        Function::Map => {
            let mut all = Vec::new();
            for item in follow(value, &Step::Each(false))? {
                all.extend(evaluate(argument, &item)?);
            }
            Ok(vec![Value::Array(all)])
        }
        _ => {
            let arguments = evaluate(argument, value)?;
            arguments.iter().map(|argument| call_of(function, argument, value)).collect()
        }
    }
}

fn call_of(function: Function, argument: &Value, value: &Value) -> Result<Value, String> {
    match (function, value, argument) {
        (Function::Has, Value::Object(_), Value::String(key)) => Ok(Value::Bool(value.field(key).is_some())),
        (Function::Has, Value::Array(items), Value::Number(index)) => {
            let there = index.as_u64().is_some_and(|index| index < items.len() as u64);
            Ok(Value::Bool(there))
        }
        (Function::Has, ..) => Err(format!("{} cannot have a {}", value.kind(), argument.kind())),
        (Function::Join, Value::Array(items), Value::String(between)) => {
            let texts: Result<Vec<String>, String> = items.iter().map(joinable).collect();
            Ok(Value::String(texts?.join(between)))
        }
        _ => Err(format!("cannot join {} by {}", value.kind(), argument.kind())),
    }
}

fn joinable(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(format!("cannot join {}", value.kind())),
        _ => Ok(text_of(value)),
    }
}

/// The text of a string, or the JSON of another value.
pub(super) fn text_of(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let mut text = String::new();
    value.write(None, &mut text);
    text
}

fn call(function: Function, value: &Value) -> Result<Value, String> {
    let wrong = |name: &str| Err(format!("{} has no {name}", value.kind()));
    match (function, value) {
        (Function::Not, _) => Ok(Value::Bool(!value.is_true())),
        (Function::Type, _) => Ok(Value::String(value.kind().to_owned())),
        (Function::ToString, _) => Ok(Value::String(text_of(value))),
        (Function::ToNumber, Value::Number(_)) => Ok(value.clone()),
        (Function::ToNumber, Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(number @ Value::Number(_)) => Ok(number),
            _ => Err(format!("\"{text}\" is not a number")),
        },
        (Function::Length, Value::Null) => Ok(integer(0)),
        (Function::Length, Value::String(text)) => Ok(integer(text.chars().count())),
        (Function::Length, Value::Array(items)) => Ok(integer(items.len())),
        (Function::Length, Value::Object(fields)) => Ok(integer(fields.len())),
        (Function::Keys, Value::Array(items)) => Ok(Value::Array((0..items.len()).map(integer).collect())),
        (Function::Keys, Value::Object(fields)) => {
            let mut keys: Vec<&String> = fields.iter().map(|(key, _)| key).collect();
            keys.sort();
            Ok(Value::Array(keys.into_iter().cloned().map(Value::String).collect()))
        }
        (Function::First, Value::Array(items)) => Ok(items.first().cloned().unwrap_or(Value::Null)),
        (Function::Last, Value::Array(items)) => Ok(items.last().cloned().unwrap_or(Value::Null)),
        (Function::Reverse, Value::Array(items)) => Ok(Value::Array(items.iter().rev().cloned().collect())),
        (Function::Sort, Value::Array(items)) => {
            let mut items = items.clone();
            items.sort_by(Value::order);
            Ok(Value::Array(items))
        }
        (Function::Add, Value::Array(items)) => items.iter().try_fold(Value::Null, add),
        (Function::Length, _) => wrong("length"),
        (Function::Keys, _) => wrong("keys"),
        (Function::ToNumber, _) => wrong("number"),
        _ => wrong("items"),
    }
}

fn add(sum: Value, item: &Value) -> Result<Value, String> {
    match (sum, item) {
        (sum, Value::Null) => Ok(sum),
        (Value::Null, item) => Ok(item.clone()),
        (Value::Number(a), Value::Number(b)) => {
            let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b)).map(Number::from);
            let either = || Number::from_f64(a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default());
            whole.or_else(either).map(Value::Number).ok_or_else(|| "the sum is no number".to_owned())
        }
        (Value::String(a), Value::String(b)) => Ok(Value::String(a + b)),
        (Value::Array(mut a), Value::Array(b)) => {
            a.extend(b.iter().cloned());
            Ok(Value::Array(a))
        }
        (Value::Object(mut a), Value::Object(b)) => {
            b.iter().for_each(|(key, value)| Value::put(&mut a, key.clone(), value.clone()));
            Ok(Value::Object(a))
        }
        (sum, item) => Err(format!("cannot add {} and {}", sum.kind(), item.kind())),
    }
}

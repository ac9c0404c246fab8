//! What is told of many replies: the first ones, how often each different one came, the sum of numbers. Bounded however many there are.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::limits::{ACTOR_DISTINCT_MAX, ACTOR_REPLIES_SHOWN};

/// Collects the replies to one ask.
#[derive(Default)]
pub(super) struct Replies {
    count: u64,
    first: Vec<Value>,
    distinct: HashMap<String, u64>,
    /// More different replies came than are counted.
    more_distinct: bool,
    /// While every reply was a number.
    sum: Option<f64>,
    numbers: u64,
    failed: u64,
    failures: HashMap<String, u64>,
}

impl Replies {
    /// Takes a reply, which is JSON.
    pub(super) fn take(&mut self, text: &str) {
        self.count += 1;
        if self.first.len() < ACTOR_REPLIES_SHOWN {
            self.first.push(serde_json::from_str(text).unwrap_or(Value::Null));
        }
        if let Ok(number) = text.parse::<f64>() {
            self.numbers += 1;
            *self.sum.get_or_insert(0.0) += number;
        }
        if let Some(times) = self.distinct.get_mut(text) {
            *times += 1;
        } else if self.distinct.len() < ACTOR_DISTINCT_MAX {
            self.distinct.insert(text.to_string(), 1);
        } else {
            self.more_distinct = true;
        }
    }

    /// Takes a failure.
    pub(super) fn fail(&mut self, message: String) {
        self.failed += 1;
        if self.failures.contains_key(&message) || self.failures.len() < ACTOR_DISTINCT_MAX {
            *self.failures.entry(message).or_default() += 1;
        }
    }

    /// The report.
    pub(super) fn into_json(self) -> Value {
        let mut answer = json!({"replied": self.count, "failed": self.failed, "replies": self.first});
        if self.count > self.first.len() as u64 {
            let mut distinct: Vec<(String, u64)> = self.distinct.into_iter().collect();
            distinct.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
            let rows = distinct.into_iter().map(|(text, times)| {
                json!({"reply": serde_json::from_str::<Value>(&text).unwrap_or(Value::Null), "times": times})
            });
            answer["distinct"] = rows.collect();
            answer["more_distinct"] = json!(self.more_distinct);
        }
        if self.count > 1 && self.numbers == self.count {
            answer["sum"] = json!(self.sum);
        }
        if !self.failures.is_empty() {
            let mut failures: Vec<(String, u64)> = self.failures.into_iter().collect();
            failures.sort();
            answer["failures"] = failures
                .into_iter()
                .map(|(message, times)| json!({"message": message, "times": times}))
                .collect();
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::Replies;

    #[test]
    fn many_replies_are_counted_and_not_listed() {
        let mut replies = Replies::default();
        (0..1000).for_each(|number| replies.take(if number % 4 == 0 { "7" } else { "5" }));
        replies.fail("gone".to_string());
        let report = replies.into_json();
        assert_eq!((report["replied"].as_u64(), report["failed"].as_u64()), (Some(1000), Some(1)));
        assert_eq!(report["replies"].as_array().map(Vec::len), Some(super::ACTOR_REPLIES_SHOWN));
        assert_eq!(report["distinct"][0], serde_json::json!({"reply": 5, "times": 750}));
        assert_eq!(report["sum"].as_f64(), Some(5500.0));
    }
}

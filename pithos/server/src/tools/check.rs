//! Holds a call's arguments against the schema that its tool announces, so that a message names the field, what it must be and what it was.

use serde_json::Value;

use crate::schema;

/// Of a wrong value, a message shows this much.
const SHOWN_CHARS: usize = 40;

/// What is wrong with the arguments of a tool, if anything; an unknown tool is somebody else's to report.
pub(super) fn arguments(tool: &str, arguments: &Value) -> Result<(), String> {
    let Some(tool) = schema::tools().iter().find(|known| known.name == tool) else { return Ok(()) };
    let known = &tool.input_schema["properties"];
    let given = arguments.as_object().ok_or("the arguments must be an object")?;
    for (name, value) in given {
        let Some(wanted) = known.get(name) else {
            let names: Vec<&str> =
                known.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            return Err(format!("there is no argument '{}'; there are: {}", shown(name), names.join(", ")));
        };
        // Null is an argument that was left out.
        if !value.is_null() {
            fits(wanted, value).map_err(|problem| format!("'{name}' {problem}"))?;
        }
    }
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let missing =
        required.into_iter().flatten().filter_map(Value::as_str).find(|name| !given.contains_key(*name));
    missing.map_or(Ok(()), |name| Err(format!("'{name}' is missing")))
}

fn fits(wanted: &Value, value: &Value) -> Result<(), String> {
    let right_type = match wanted["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !right_type {
        let kind = wanted["type"].as_str().unwrap_or("value");
        return Err(format!("must be of type {kind}, and is {}", shown(&value.to_string())));
    }
    if let (Some(least), Some(number)) = (wanted["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        return Err(format!("must be at least {least}, and is {number}"));
    }
    if let (Some(most), Some(number)) = (wanted["maximum"].as_f64(), value.as_f64())
        && number > most
    {
        return Err(format!("must be at most {most}, and is {number}"));
    }
    if let Some(words) = wanted["enum"].as_array()
        && !words.contains(value)
    {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return Err(format!("must be one of {}, and is {}", words.join(", "), shown(&value.to_string())));
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let wanted = wanted["properties"].get(name).unwrap_or(&wanted["additionalProperties"]);
        if wanted.is_object() {
            fits(wanted, inner).map_err(|problem| format!("('{}') {problem}", shown(name)))?;
        }
    }
    Ok(())
}

fn shown(text: &str) -> String {
    if text.chars().count() > SHOWN_CHARS {
        format!("{}…", text.chars().take(SHOWN_CHARS).collect::<String>())
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::arguments;

    #[test]
    fn a_message_names_the_field() {
        assert_eq!(arguments("run", &json!({"command": ":", "cwd": null, "env": {"A": "b"}})), Ok(()));
        for (given, message) in [
            (json!({}), "'command' is missing"),
            (json!({"command": 1}), "'command' must be of type string, and is 1"),
            (
                json!({"command": ":", "timeout_ms": "5"}),
                "'timeout_ms' must be of type integer, and is \"5\"",
            ),
            (json!({"command": ":", "env": {"A": 1}}), "'env' ('A') must be of type string, and is 1"),
        ] {
            assert_eq!(arguments("run", &given), Err(message.to_string()));
        }
        let unknown = arguments("run", &json!({"command": ":", "comand": ""})).expect_err("unknown");
        assert!(unknown.starts_with("there is no argument 'comand'; there are: "), "{unknown}");
        let action = arguments("session", &json!({"action": "mend"})).expect_err("no such action");
        assert_eq!(
            action,
            "'action' must be one of open, fork, close, list, diff, undo, commit, discard, checkpoint, checkpoints, restore, delete, and is \"mend\""
        );
    }
}

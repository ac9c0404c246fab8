//! Tools as TypeScript declares them, made from their schemas: what a model that writes a cell reads instead of the schemas of every tool.

use std::fmt::Write;

use rmcp::model::Tool;
use serde_json::Value;

/// Types in types are followed this far; what is deeper is `unknown`.
const DEPTH_MAX: usize = 8;

/// One server's tools as a member of `tools`. `text` says that answers have the output as `text` besides.
pub(super) fn of_server(name: &str, tools: &[Tool], text: bool) -> String {
    let mut all = format!("  {}: {{\n", key(name));
    for tool in tools {
        if let Some(description) = &tool.description {
            let _ = writeln!(all, "    /** {} */", description.replace("*/", "* /").replace('\n', " "));
        }
        let input = Value::Object((*tool.input_schema).clone());
        let optional = if input["required"].as_array().is_none_or(Vec::is_empty) { "?" } else { "" };
        let output = tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone()));
        let output = match output {
            Some(schema) if text => format!("{} & {{ text: string }}", of(&schema, &schema, 0)),
            Some(schema) => of(&schema, &schema, 0),
            None => "unknown".to_owned(),
        };
        let _ = writeln!(
            all,
            "    {}(argument{optional}: {}): Promise<{output}>;",
            key(&tool.name),
            of(&input, &input, 0)
        );
    }
    all.push_str("  };\n");
    all
}

/// A name as a member: quoted when it is none.
fn key(name: &str) -> String {
    let mut letters = name.chars();
    let first =
        letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_' || letter == '$');
    if first && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$') {
        name.to_owned()
    } else {
        Value::String(name.to_owned()).to_string()
    }
}

fn of(schema: &Value, whole: &Value, depth: usize) -> String {
    if depth > DEPTH_MAX {
        return "unknown".to_owned();
    }
    let inner = |schema: &Value| of(schema, whole, depth + 1);
    let one_of = |list: &[Value]| list.iter().map(inner).collect::<Vec<_>>().join(" | ");
    if let Some(reference) = schema["$ref"].as_str() {
        let found = reference.strip_prefix('#').and_then(|pointer| whole.pointer(pointer));
        return found.map_or_else(|| "unknown".to_owned(), inner);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(list) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return one_of(list);
    }
    let named = |kind: &str| match kind {
        "string" | "boolean" | "null" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => match schema.get("items") {
            Some(items) => format!("Array<{}>", inner(items)),
            None => "unknown[]".to_owned(),
        },
        "object" => object(schema, inner),
        _ => "unknown".to_owned(),
    };
    match &schema["type"] {
        Value::String(kind) => named(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(named).collect::<Vec<_>>().join(" | ")
        }
        _ if schema["properties"].is_object() => object(schema, inner),
        _ => "unknown".to_owned(),
    }
}

fn object(schema: &Value, inner: impl Fn(&Value) -> String) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        return match &schema["additionalProperties"] {
            Value::Object(_) => format!("Record<string, {}>", inner(&schema["additionalProperties"])),
            _ => "Record<string, unknown>".to_owned(),
        };
    };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
    };
    let members: Vec<String> = properties
        .iter()
        .map(|(name, property)| {
            let mark = if required(name) { "" } else { "?" };
            format!("{}{mark}: {}", key(name), inner(property))
        })
        .collect();
    if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::of;
    use serde_json::json;

    #[test]
    fn schemas_are_types() {
        let recursive = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}});
        for (schema, wanted) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "number | null"),
            (json!({"enum": ["a", 1]}), "\"a\" | 1"),
            (
                json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"const": 1}]}}),
                "Array<string | 1>",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "boolean"}, "b-c": {}}, "required": ["a"]}),
                "{ a: boolean; \"b-c\"?: unknown }",
            ),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), "Record<string, string>"),
            (json!({"type": "object"}), "Record<string, unknown>"),
            (json!(true), "unknown"),
        ] {
            assert_eq!(of(&schema, &schema, 0), wanted, "{schema}");
        }
        assert!(of(&recursive, &recursive, 0).ends_with("unknown } } } }"), "it ends");
    }
}

//! `console` and `print`. <https://console.spec.whatwg.org/>
//!
//! Formats as node does and hands lines to the embedder's sink.

use std::collections::HashMap;

use cynic_engine::atoms;
use cynic_engine::object::function::CallArgs;
use cynic_engine::object::function::NativeSpec;
use cynic_engine::realm::{PropertySpec, ValueSpec, data};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

use crate::host::inspect::{self, Styles};
use crate::host::limits::{GROUP_COLUMNS_MAX, LABEL_BYTES_MAX, LABELS_MAX};
use crate::host::state::{State, Stream, state};

/// Columns per open group.
const GROUP_COLUMNS: usize = 2;
/// A text that grows looks at the heap once per so many bytes.
const TEXT_STEP_BYTES: usize = 64 << 10;

const fn row(name: &'static str, function: cynic_engine::object::function::NativeFn) -> PropertySpec {
    data(name, ValueSpec::Method(NativeSpec::new(name, 0, function)), attrs::ALL)
}

/// The methods of `console`.
pub(crate) static METHODS: &[PropertySpec] = &[
    row("assert", assert),
    row("count", count),
    row("countReset", count_reset),
    row("debug", log),
    row("dir", dir),
    row("error", error),
    row("group", group),
    row("groupCollapsed", group),
    row("groupEnd", group_end),
    row("info", log),
    row("log", log),
    row("table", table),
    row("time", time),
    row("timeEnd", time_end),
    row("timeLog", time_log),
    row("trace", trace),
    row("warn", error),
];

/// Hands a text to the sink, indented by the open groups.
fn emit(vm: &mut Vm, stream: Stream, text: &str) -> JsResult<Value> {
    let Some(state) = state(vm) else { return Ok(Value::UNDEFINED) };
    let columns = state.indentation;
    if columns == 0 {
        state.sink.line(stream, text);
        return Ok(Value::UNDEFINED);
    }
    let indent = " ".repeat(columns);
    for line in text.split('\n') {
        vm.poll()?;
        if let Some(state) = crate::host::state::state(vm) {
            state.sink.line(stream, &format!("{indent}{line}"));
        }
    }
    Ok(Value::UNDEFINED)
}

/// A text that grows within what is left of the guest's heap.
#[derive(Default)]
struct Text {
    text: String,
    /// How long it may become before the heap is looked at again.
    checked: usize,
}

impl Text {
    fn push(&mut self, vm: &mut Vm, piece: &str) -> JsResult<()> {
        let bytes = self.text.len() + piece.len();
        if bytes > self.checked {
            vm.poll()?;
            vm.check_heap_room(bytes)?;
            self.checked = bytes + TEXT_STEP_BYTES;
        }
        self.text.push_str(piece);
        Ok(())
    }
}

fn styles(vm: &mut Vm) -> Styles {
    state(vm).map_or(Styles::Plain, |state| state.styles)
}

/// `print`: its arguments as strings, separated by spaces.
pub(crate) fn print(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut text = Text::default();
    for (index, &value) in args.as_slice().iter().enumerate() {
        if index > 0 {
            text.push(vm, " ")?;
        }
        let piece = vm.to_rust_string(value)?;
        text.push(vm, &piece)?;
    }
    if let Some(state) = state(vm) {
        state.sink.line(Stream::Output, &text.text);
    }
    Ok(Value::UNDEFINED)
}

fn log(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = format(vm, args.as_slice())?;
    emit(vm, Stream::Output, &text)
}

fn error(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = format(vm, args.as_slice())?;
    emit(vm, Stream::Diagnostics, &text)
}

fn dir(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let styles = styles(vm);
    let text = inspect::text_of(vm, args.get(0), styles);
    emit(vm, Stream::Output, &text)
}

fn assert(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.get(0).to_boolean() {
        return Ok(Value::UNDEFINED);
    }
    let message = format(vm, args.rest(1))?;
    let text =
        if message.is_empty() { "Assertion failed".into() } else { format!("Assertion failed: {message}") };
    emit(vm, Stream::Diagnostics, &text)
}

fn trace(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let message = format(vm, args.as_slice())?;
    let error = vm.new_error(cynic_engine::realm::Intrinsic::ErrorPrototype, &message);
    let stack = vm.get(error, atoms::STACK)?;
    let stack = vm.to_rust_string(stack)?;
    let frames: String = stack.split_inclusive('\n').skip(1).collect();
    let text =
        if message.is_empty() { format!("Trace\n{frames}") } else { format!("Trace: {message}\n{frames}") };
    emit(vm, Stream::Diagnostics, text.trim_end())
}

fn group(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_empty() {
        log(vm, args)?;
    }
    if let Some(state) = state(vm) {
        state.indentation = (state.indentation + GROUP_COLUMNS).min(GROUP_COLUMNS_MAX);
    }
    Ok(Value::UNDEFINED)
}

fn group_end(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    if let Some(state) = state(vm) {
        state.indentation = state.indentation.saturating_sub(GROUP_COLUMNS);
    }
    Ok(Value::UNDEFINED)
}

/// The label argument of counters and stopwatches.
fn label(vm: &mut Vm, args: CallArgs) -> JsResult<String> {
    let value = args.get(0);
    let label = if value.is_undefined() { "default".into() } else { vm.to_rust_string(value)? };
    if label.len() > LABEL_BYTES_MAX {
        return Err(vm.throw_range_error(&format!("a label has at most {LABEL_BYTES_MAX} bytes")));
    }
    Ok(label)
}

/// Whether there is room for a label, or it is there already.
fn check_room<T>(
    vm: &mut Vm,
    label: &str,
    labels: fn(&mut State) -> &mut HashMap<String, T>,
) -> JsResult<()> {
    let has_room = state(vm).map(labels).is_none_or(|all| all.len() < LABELS_MAX || all.contains_key(label));
    if has_room {
        Ok(())
    } else {
        Err(vm.throw_range_error(&format!("there are {LABELS_MAX} labels already")))
    }
}

fn count(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let label = label(vm, args)?;
    check_room(vm, &label, |state| &mut state.counters)?;
    let Some(state) = state(vm) else { return Ok(Value::UNDEFINED) };
    let counter = state.counters.entry(label.clone()).or_default();
    *counter += 1;
    let text = format!("{label}: {counter}");
    emit(vm, Stream::Output, &text)
}

fn count_reset(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let label = label(vm, args)?;
    if let Some(state) = state(vm) {
        state.counters.remove(&label);
    }
    Ok(Value::UNDEFINED)
}

fn time(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let label = label(vm, args)?;
    check_room(vm, &label, |state| &mut state.stopwatches)?;
    let now = vm.host_now_nanoseconds()?;
    if let Some(state) = state(vm) {
        state.stopwatches.insert(label, now);
    }
    Ok(Value::UNDEFINED)
}

fn report_time(vm: &mut Vm, args: CallArgs) -> JsResult<String> {
    let label = label(vm, args)?;
    let now = vm.host_now_nanoseconds()?;
    let started = state(vm).and_then(|state| state.stopwatches.get(&label).copied());
    let text = match started {
        Some(started) => format!("{label}: {:.3}ms", (now - started) as f64 / 1e6),
        None => format!("no such label '{label}' for console.time()"),
    };
    emit(vm, Stream::Output, &text)?;
    Ok(label)
}

fn time_end(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let label = report_time(vm, args)?;
    if let Some(state) = state(vm) {
        state.stopwatches.remove(&label);
    }
    Ok(Value::UNDEFINED)
}

fn time_log(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    report_time(vm, args)?;
    Ok(Value::UNDEFINED)
}

fn table(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(rows) = args.get(0).as_object() else { return log(vm, args) };
    let text = table::render(vm, rows)?;
    emit(vm, Stream::Output, &text)
}

/// The arguments of a console method as one text: format directives, then the rest. <https://console.spec.whatwg.org/#formatter>
pub fn format(vm: &mut Vm, arguments: &[Value]) -> JsResult<String> {
    let styles = styles(vm);
    let mut text = Text::default();
    let mut rest = arguments;
    if let [first, others @ ..] = arguments
        && let Some(pattern) = first.as_string()
        && !others.is_empty()
    {
        let pattern = pattern.text(vm)?;
        let used = substitute(vm, &pattern, others, styles, &mut text)?;
        rest = &others[used..];
    } else if let [first, others @ ..] = arguments {
        let piece = inspect::display(vm, *first, styles);
        text.push(vm, &piece)?;
        rest = others;
    }
    for &value in rest {
        let piece = inspect::display(vm, value, styles);
        text.push(vm, " ")?;
        text.push(vm, &piece)?;
    }
    Ok(text.text)
}

/// Fills the directives of `pattern`; how many values were used.
fn substitute(
    vm: &mut Vm,
    pattern: &str,
    values: &[Value],
    styles: Styles,
    text: &mut Text,
) -> JsResult<usize> {
    let mut used = 0;
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('%') {
        text.push(vm, before)?;
        rest = after;
        match after.chars().next() {
            Some('%') => {
                text.push(vm, "%")?;
                rest = &after[1..];
            }
            Some(directive) if "sdifjoOc".contains(directive) && used < values.len() => {
                let piece = directive_text(vm, directive, values[used], styles)?;
                text.push(vm, &piece)?;
                used += 1;
                rest = &after[1..];
            }
            _ => text.push(vm, "%")?,
        }
    }
    text.push(vm, rest)?;
    Ok(used)
}

fn directive_text(vm: &mut Vm, directive: char, value: Value, styles: Styles) -> JsResult<String> {
    Ok(match directive {
        's' if value.is_object() || value.is_bigint() => inspect::display(vm, value, Styles::Plain),
        's' if value.as_number().is_some_and(|number| number == 0.0 && number.is_sign_negative()) => {
            "-0".into()
        }
        's' if value.is_symbol() => vm.describe(value),
        's' => vm.to_rust_string(value)?,
        'd' | 'i' | 'f' if value.is_object() || value.is_symbol() => "NaN".into(),
        'd' | 'i' if value.is_bigint() => vm.describe(value),
        'd' => number_text(vm, value, |number| number)?,
        'i' => number_text(vm, value, f64::trunc)?,
        'f' => number_text(vm, value, |number| number)?,
        'j' => {
            let json = cynic_engine::builtins::json::to_text(vm, value)?;
            json.unwrap_or_else(|| "undefined".into())
        }
        'c' => String::new(),
        _ => inspect::text_of(vm, value, styles),
    })
}

fn number_text(vm: &mut Vm, value: Value, convert: fn(f64) -> f64) -> JsResult<String> {
    let number = convert(vm.to_number(value)?);
    Ok(vm.describe(Value::number(number)))
}

mod table {
    //! `console.table`.

    use cynic_engine::object::Object;
    use cynic_engine::value::Value;
    use cynic_engine::vm::{JsResult, Vm};

    use crate::host::inspect::{Styles, text_of};
    use crate::host::limits::{TABLE_COLUMNS_MAX, TABLE_ROWS_MAX};

    const INDEX_HEADING: &str = "(index)";
    const VALUES_HEADING: &str = "Values";
    /// Lines besides the rows: the heading and three rules.
    const HEADING_LINES: usize = 4;
    /// Bytes of the bars between columns.
    const BAR_BYTES: usize = "│".len();

    /// The table of an object's properties and their properties.
    pub(super) fn render(vm: &mut Vm, rows: Object) -> JsResult<String> {
        let mut headings = vec![INDEX_HEADING.to_owned()];
        let mut lines: Vec<Vec<String>> = Vec::new();
        let mut has_values = false;
        let mut values: Vec<String> = Vec::new();
        let keys = vm.own_property_keys(rows)?;
        for &key in keys.iter().take(TABLE_ROWS_MAX) {
            let Some(property) = vm.get_own_property(rows, key)?.filter(|property| property.is_enumerable())
            else {
                continue;
            };
            let mut cells = vec![key.to_display()];
            let mut own = String::new();
            match property.value.as_object() {
                Some(row) => fill_row(vm, row, &mut headings, &mut cells)?,
                None => {
                    has_values = true;
                    own = text_of(vm, property.value, Styles::Plain);
                }
            }
            values.push(own);
            lines.push(cells);
        }
        for (cells, value) in lines.iter_mut().zip(values) {
            cells.resize(headings.len(), String::new());
            if has_values {
                cells.push(value);
            }
        }
        if has_values {
            headings.push(VALUES_HEADING.into());
        }
        let widths = widths(&headings, &lines);
        let line_bytes = widths.iter().sum::<usize>() + BAR_BYTES * (widths.len() + 1);
        vm.check_heap_room(line_bytes.saturating_mul(lines.len() + HEADING_LINES))?;
        Ok(draw(&headings, &lines, &widths))
    }

    fn fill_row(
        vm: &mut Vm,
        row: Object,
        headings: &mut Vec<String>,
        cells: &mut Vec<String>,
    ) -> JsResult<()> {
        let keys = vm.own_property_keys(row)?;
        for &key in keys.iter() {
            let Some(property) = vm.get_own_property(row, key)?.filter(|property| property.is_enumerable())
            else {
                continue;
            };
            let name = key.to_display();
            let column = match headings.iter().skip(1).position(|heading| *heading == name) {
                Some(column) => column + 1,
                None if headings.len() < TABLE_COLUMNS_MAX => {
                    headings.push(name);
                    headings.len() - 1
                }
                None => continue,
            };
            if cells.len() <= column {
                cells.resize(column + 1, String::new());
            }
            let value: Value = property.value;
            cells[column] = text_of(vm, value, Styles::Plain);
        }
        Ok(())
    }

    /// The width of each column with a blank on either side.
    fn widths(headings: &[String], lines: &[Vec<String>]) -> Vec<usize> {
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.chain(headings.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
        };
        (0..headings.len()).map(width).collect()
    }

    fn draw(headings: &[String], lines: &[Vec<String>], widths: &[usize]) -> String {
        let rule = |left: &str, middle: &str, right: &str| {
            let bars: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            format!("{left}{}{right}", bars.join(middle))
        };
        let line = |cells: &[String]| {
            let padded: Vec<String> =
                cells.iter().zip(widths).map(|(cell, width)| centred(cell, *width)).collect();
            format!("│{}│", padded.join("│"))
        };
        let mut text = vec![rule("┌", "┬", "┐"), line(headings), rule("├", "┼", "┤")];
        text.extend(lines.iter().map(|cells| line(cells)));
        text.push(rule("└", "┴", "┘"));
        text.join("\n")
    }

    fn centred(cell: &str, width: usize) -> String {
        let room = width.saturating_sub(cell.chars().count());
        let left = room / 2;
        format!("{}{cell}{}", " ".repeat(left), " ".repeat(room - left))
    }
}

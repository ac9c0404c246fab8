//! Code from strings, and scripts: PerformEval (19.2.1.1), CreateDynamicFunction (20.2.1.1.1), ScriptEvaluation
//! (16.1.6).

#![allow(unsafe_code)]

use std::sync::Arc;

use super::interpreter::State;
use super::interpreter::call::closure_template;
use super::{JsResult, Vm};
use crate::bytecode::code::{EvalSite, FunctionCode};
use crate::bytecode::verify;
use crate::compiler::{self, CompileOptions};
use crate::gc::ExternalCharge;
use crate::gc::native_stack::StackBounds;
use crate::limits;
use crate::object::ObjectKind;
use crate::object::function::CallArgs;
use crate::realm::Intrinsic;
use crate::string::JsStr;
use crate::syntax::weight::weight;
use crate::syntax::{SourceText, SyntaxError};
use crate::value::Value;

/// Which function constructor was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicKind {
    /// `Function`.
    Normal,
    /// `GeneratorFunction`.
    Generator,
    /// `AsyncFunction`.
    Async,
    /// `AsyncGeneratorFunction`.
    AsyncGenerator,
}

impl DynamicKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Normal => "function",
            Self::Generator => "function*",
            Self::Async => "async function",
            Self::AsyncGenerator => "async function*",
        }
    }

    fn prototype(self) -> Intrinsic {
        match self {
            Self::Normal => Intrinsic::FunctionPrototype,
            Self::Generator => Intrinsic::GeneratorFunctionPrototype,
            Self::Async => Intrinsic::AsyncFunctionPrototype,
            Self::AsyncGenerator => Intrinsic::AsyncGeneratorFunctionPrototype,
        }
    }
}

/// What a program turned out to be.
pub enum Program {
    /// A script, compiled.
    Script(Arc<FunctionCode>),
    /// A module.
    Module,
}

impl Vm {
    pub(crate) fn compile_options(&self) -> CompileOptions {
        CompileOptions {
            allow_eval: self.options.allow_eval,
            deadline: self.metering.deadline,
            stack_room: StackBounds::of_current_thread().room(),
            ..CompileOptions::default()
        }
    }

    /// The options for a source whose name may say that it is more than JavaScript.
    pub(crate) fn compile_options_for(&self, name: &str) -> CompileOptions {
        CompileOptions { dialect: self.options.dialect(name), ..self.compile_options() }
    }

    /// Throws the SyntaxError of the language for a syntax error of the front end.
    pub fn throw_syntax(&mut self, error: &SyntaxError) -> super::Abrupt {
        self.throw_syntax_error(&format!(
            "{} ({}:{}:{})\n{}",
            error.message, error.source_name, error.line, error.column, error.excerpt
        ))
    }

    /// Source text from a string: lone surrogates, which the front end cannot read, become escapes.
    pub(crate) fn source_from_string(&mut self, string: JsStr) -> JsResult<SourceText> {
        // A text grows by doubling.
        let bytes_per_unit = if string.is_latin1() { 2 } else { limits::ESCAPED_UNIT_BYTES };
        self.check_heap_room(string.len() * 2 * bytes_per_unit)?;
        self.pay()?;
        Ok(SourceText::from_units(string.view(self).units()))
    }

    /// Compiles and runs a script in the current realm; the result is its completion value.
    pub fn evaluate_script(&mut self, name: &str, text: &str) -> JsResult<Value> {
        let options = self.compile_options_for(name);
        let code =
            self.compile_metered(name, text, options, || compiler::compile_script(name, text, options))?;
        self.run_script(&code)
    }

    /// Makes a function of `parameters` (a list as it is written) and the body `text`. Places in it are those in `text`.
    pub fn function_of_body(&mut self, name: &str, parameters: &str, text: &str) -> JsResult<Value> {
        let before = format!("(function ({parameters}) {{ ");
        self.check_heap_room(before.len() + text.len())?;
        let whole = format!("{before}{text}\n}})");
        let options = CompileOptions { hidden: before.len() as u32, ..self.compile_options_for(name) };
        let code =
            self.compile_metered(name, &whole, options, || compiler::compile_script(name, &whole, options))?;
        self.run_script(&code)
    }

    /// Compiles and runs a script in the current realm, whose completion value nobody wants.
    pub fn execute_script(&mut self, name: &str, text: &str) -> JsResult<()> {
        let code = self.compile_script(name, text)?;
        self.run_script(&code).map(drop)
    }

    /// Compiles a script whose completion value nobody wants, and does not run it.
    pub fn compile_script(&mut self, name: &str, text: &str) -> JsResult<Arc<FunctionCode>> {
        let options = CompileOptions { discard_value: true, ..self.compile_options_for(name) };
        self.compile_metered(name, text, options, || compiler::compile_script(name, text, options))
    }

    /// Throws the SyntaxError that a module's text has, if it has one.
    pub fn check_module(&mut self, name: &str, text: &str) -> JsResult<()> {
        let options = self.compile_options_for(name);
        self.compile_metered(name, text, options, || compiler::compile_module(name, text, options)).map(drop)
    }

    /// Compiles a program that does not say whether it is a script or a module: it is a script if it can be one.
    pub fn compile_program(&mut self, name: &str, text: &str) -> JsResult<Program> {
        let options = CompileOptions { discard_value: true, ..self.compile_options_for(name) };
        self.compile_metered(name, text, options, || match compiler::compile_script(name, text, options) {
            Ok(code) => Ok(Program::Script(code)),
            Err(error) => {
                let may_be = ["import", "export", "await"].iter().any(|word| text.contains(word));
                let is_module = may_be && compiler::compile_module(name, text, options).is_ok();
                if is_module { Ok(Program::Module) } else { Err(error) }
            }
        })
    }

    /// Compiles `text`, whose worst case must fit the heap and is charged to it meanwhile, and whose length is paid for in steps.
    pub(crate) fn compile_metered<T>(
        &mut self,
        name: &str,
        text: &str,
        options: CompileOptions,
        compile: impl FnOnce() -> Result<T, SyntaxError>,
    ) -> JsResult<T> {
        self.charge_bytes(text.len());
        self.poll()?;
        let bytes = weight(text);
        if bytes > self.heap_room() {
            // What is refused unread needs no room: the program may catch that.
            compiler::stack_needed(name, text, options).map_err(|error| self.throw_syntax(&error))?;
        }
        let charge = self.charge_compiling(bytes)?;
        let result = compile();
        drop(charge);
        // Parsing and compiling take time that no step accounts for.
        self.check_time()?;
        result.map_err(|error| self.throw_syntax(&error))
    }

    /// Unlike [`Vm::charge_external`], no steps: a bound is charged, not work.
    fn charge_compiling(&mut self, bytes: usize) -> JsResult<ExternalCharge> {
        self.check_heap_room(bytes)?;
        Ok(self.heap.charge_beyond_limit(bytes))
    }

    /// Runs a compiled script in the current realm.
    pub fn run_script(&mut self, code: &Arc<FunctionCode>) -> JsResult<Value> {
        self.check_code(code)?;
        let referrer = self.new_referrer(&code.source.name);
        let template = self.link(code, referrer);
        self.declare_globals(&code.globals)?;
        let this = Value::object(self.global_object());
        self.call_template(template, Value::UNDEFINED, this, &[], Value::UNDEFINED)
    }

    /// Refuses code that does not verify: a bug of the compiler must not become one of memory safety. What the compiler's
    /// output has by construction is checked where assertions are (docs/cynic-vm.md says why not everywhere).
    pub(crate) fn check_code(&mut self, code: &FunctionCode) -> JsResult<()> {
        let verified = match verify::verify(code) {
            Ok(()) if cfg!(debug_assertions) => verify::verify_flow(code),
            verified => verified,
        };
        match verified {
            Ok(()) => Ok(()),
            Err(error) => {
                let message = format!("internal error: bytecode at {} refused: {}", error.pc, error.problem);
                Err(self.throw_error(Intrinsic::ErrorPrototype, &message))
            }
        }
    }

    fn check_eval_allowed(&mut self) -> JsResult<()> {
        if self.options.allow_eval {
            return Ok(());
        }
        Err(self.throw_eval_error("code generation from strings is not allowed (see --allow=eval)"))
    }

    /// PerformEval for an indirect call.
    pub(crate) fn perform_indirect_eval(&mut self, source: Value) -> JsResult<Value> {
        let Some(source) = source.as_string() else { return Ok(source) };
        self.check_eval_allowed()?;
        let text = self.source_from_string(source)?;
        let code = self.compile_eval(&text, None)?;
        let referrer = Value::UNDEFINED;
        let template = self.link(&code, referrer);
        let this = Value::object(self.global_object());
        self.call_template(template, Value::UNDEFINED, this, &[], Value::UNDEFINED)
    }

    fn compile_eval(&mut self, source: &SourceText, site: Option<&EvalSite>) -> JsResult<Arc<FunctionCode>> {
        let options = self.compile_options();
        let code = self.compile_metered("<eval>", &source.text, options, || {
            compiler::compile_eval("<eval>", source, site, options)
        })?;
        self.check_code(&code)?;
        Ok(code)
    }

    /// PerformEval for a direct call at site `index` of the running function, whose innermost scope is `scope`.
    pub(crate) fn perform_direct_eval(
        &mut self,
        s: State,
        source: Value,
        index: u32,
        scope: Value,
    ) -> JsResult<Value> {
        let Some(source) = source.as_string() else { return Ok(source) };
        self.check_eval_allowed()?;
        let text = self.source_from_string(source)?;
        let caller = s.template_cell();
        let code = self.compile_eval(&text, Some(&caller.function.eval_sites[index as usize]))?;
        let template = self.link(&code, caller.referrer);
        // The scope stands in the callee's place: eval code has no closure of its own.
        self.call_template(template, scope, Value::UNDEFINED, &[], Value::UNDEFINED)
    }

    /// CreateDynamicFunction (20.2.1.1.1).
    pub(crate) fn create_dynamic_function(&mut self, args: CallArgs, kind: DynamicKind) -> JsResult<Value> {
        self.check_eval_allowed()?;
        let mut parameters = String::new();
        let count = args.len();
        for i in 0..count.saturating_sub(1) {
            let parameter = self.to_string(args.get(i))?;
            if i > 0 {
                parameters.push(',');
            }
            let text = self.source_from_string(parameter)?;
            self.check_heap_room((parameters.len() + text.text.len()) * 2)?;
            parameters.push_str(&text.text);
        }
        let body = if count == 0 { crate::string::empty() } else { self.to_string(args.get(count - 1))? };
        let body = self.source_from_string(body)?.text;
        self.check_heap_room((parameters.len() + body.len()) * limits::DYNAMIC_FUNCTION_COPIES)?;
        let text = self.dynamic_source(kind, &parameters, &body)?;
        let code = self.compile_eval(&format!("({text})").as_str().into(), None)?;
        let template = self.link(&code, Value::UNDEFINED);
        let function =
            self.call_template(template, Value::UNDEFINED, Value::UNDEFINED, &[], Value::UNDEFINED)?;
        let Some(closure) = function.as_object().filter(|o| o.is(ObjectKind::Closure)) else {
            return Err(self.throw_syntax_error("the source is not a function"));
        };
        if let Some(new_target) = args.new_target.as_object() {
            let prototype =
                self.get_prototype_from_constructor(Value::object(new_target), kind.prototype())?;
            if closure.prototype() != Value::object(prototype) {
                self.ordinary_set_prototype_of(closure, Value::object(prototype));
            }
        }
        debug_assert!(closure_template(closure).registers > 0);
        Ok(function)
    }

    /// The source of a dynamic function. Parameters and body must be well formed by themselves.
    fn dynamic_source(&mut self, kind: DynamicKind, parameters: &str, body: &str) -> JsResult<String> {
        let prefix = kind.prefix();
        let alone = [
            format!("({prefix} anonymous(\n) {{\n{body}\n}})"),
            format!("({prefix} anonymous({parameters}\n) {{\n}})"),
        ];
        for text in &alone {
            self.compile_eval(&text.as_str().into(), None)?;
        }
        Ok(format!("{prefix} anonymous({parameters}\n) {{\n{body}\n}}"))
    }
}

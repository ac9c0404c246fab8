//! The bytecode compiler: a checked syntax tree to [`FunctionCode`].
//!
//! Owns the translation; scope analysis runs first, then one walk generates code. The compiler knows nothing of the
//! heap: its output is plain data. Each file holds one part of the language; all are `impl Generator` blocks.

mod assignment;
mod builder;
mod calls;
mod classes;
mod control;
mod declare;
mod expressions;
mod functions;
mod literals;
mod loops;
mod module;
mod operators;
mod patterns;
mod resources;
mod scope;
mod statements;
mod variables;

use std::sync::Arc;
use std::time::Instant;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement};
use rustc_hash::FxHashSet;

use crate::bytecode::code::{EvalSite, FunctionCode, GlobalDeclarations, Source};
use crate::bytecode::{CodeKind, Op};
use crate::limits;
use crate::syntax::{self, Dialect, Goal, Input, SourceText, SyntaxError, nesting, raw};
use builder::Builder;
pub use module::{ExportEntry, ImportEntry, ImportName, ModuleCode, ModuleRequest};
use scope::{Analysis, AnalysisOptions, BindingKind, Role, ScopeKind};

/// A register number. Those beyond what a frame has live elsewhere ([`crate::bytecode::spill`]).
type Reg = u16;

/// Something the compiler cannot express: too large for the instruction format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What is too large or not there.
    pub message: &'static str,
    /// Where, as a byte offset.
    pub offset: u32,
}

type Result<T = ()> = std::result::Result<T, Unsupported>;

/// Settings that change the code.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions {
    /// Calls of `eval` by that name may be direct eval.
    pub allow_eval: bool,
    /// What may stand in the text besides JavaScript.
    pub dialect: Dialect,
    /// Bytes at the beginning that are not the program's, and do not count for places.
    pub hidden: u32,
    /// Nobody asks for the script's completion value, so that statements need not keep theirs.
    pub discard_value: bool,
    /// When compiling must have ended; what is not ready then is an error.
    pub deadline: Option<Instant>,
    /// Bytes of the caller's native stack that compiling may use: a source that may need more is compiled on a thread of its own.
    pub stack_room: usize,
}

/// Compiles the script `text`.
pub fn compile_script(
    name: &str,
    text: &str,
    options: CompileOptions,
) -> std::result::Result<Arc<FunctionCode>, SyntaxError> {
    compile(name, text, Goal::Script, options).map(|(code, _)| code)
}

/// Compiles eval code; `site` is `None` for indirect eval.
pub fn compile_eval(
    name: &str,
    source: &SourceText,
    site: Option<&EvalSite>,
    options: CompileOptions,
) -> std::result::Result<Arc<FunctionCode>, SyntaxError> {
    let goal = Goal::Eval { site, surrogates: &source.surrogates };
    compile(name, &source.text, goal, options).map(|(code, _)| code)
}

/// Compiles a module.
pub fn compile_module(
    name: &str,
    text: &str,
    options: CompileOptions,
) -> std::result::Result<ModuleCode, SyntaxError> {
    let (code, module) = compile(name, text, Goal::Module, options)?;
    let mut module = module.unwrap_or_default();
    module.has_top_level_await = module::has_top_level_await(&code);
    module.body = Some(code);
    Ok(module)
}

/// The stack that compiling `text` takes, found out without parsing it and without memory.
///
/// # Errors
/// When it is nested too deeply, or has what would take a parser too long.
pub fn stack_needed(
    name: &str,
    text: &str,
    options: CompileOptions,
) -> std::result::Result<usize, SyntaxError> {
    let mut nesting = if options.dialect.jsx { raw::measure(text) } else { nesting::measure(text) };
    // Types have a grammar of their own, which the scan does not know.
    nesting.ambiguous |= options.dialect.typescript;
    let too_deep = |message: &str| {
        let input = Input { text, name, dialect: options.dialect, hidden: options.hidden };
        SyntaxError::at(input, nesting.deepest, message.into())
    };
    if nesting.depth > limits::NESTING_MAX {
        return Err(too_deep("the source is nested too deeply"));
    }
    if let Some(offset) = nesting.long_bigint {
        let input = Input { text, name, dialect: options.dialect, hidden: options.hidden };
        return Err(SyntaxError::at(input, offset, "this BigInt literal is too long".into()));
    }
    if options.dialect.typescript && nesting.type_attempts > limits::TYPE_ATTEMPTS_MAX {
        return Err(too_deep("too much stands after `<` signs that may each begin type arguments"));
    }
    let attempts_max = limits::ARROW_ATTEMPTS_MAX + limits::ARROW_ATTEMPTS_PER_BYTE * text.len() as u64;
    if nesting.arrow_attempts > attempts_max {
        return Err(too_deep(
            "too much stands in parentheses that may each be the parameters of an arrow function",
        ));
    }
    let stack = nesting.bound() as usize * limits::FRONT_END_BYTES_PER_UNIT + limits::FRONT_END_BYTES;
    if stack > limits::FRONT_END_STACK_BYTES_MAX {
        return Err(too_deep("the source is too large to make sure that it is not nested too deeply"));
    }
    Ok(stack)
}

/// Compiles, on a larger stack if the source nests so deeply that this one might not do.
fn compile(
    name: &str,
    text: &str,
    goal: Goal<'_>,
    options: CompileOptions,
) -> std::result::Result<(Arc<FunctionCode>, Option<ModuleCode>), SyntaxError> {
    let stack = stack_needed(name, text, options)?;
    if stack <= options.stack_room {
        return compile_here(name, text, goal, options);
    }
    std::thread::scope(|scope| {
        let compile = || compile_here(name, text, goal, options);
        match std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, compile) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => {
                let input = Input { text, name, dialect: options.dialect, hidden: options.hidden };
                Err(SyntaxError::at(
                    input,
                    0,
                    "there is no memory for the stack that this nesting needs".into(),
                ))
            }
        }
    })
}

/// Compiles on this thread's stack, which has been found large enough.
fn compile_here(
    name: &str,
    text: &str,
    goal: Goal<'_>,
    options: CompileOptions,
) -> std::result::Result<(Arc<FunctionCode>, Option<ModuleCode>), SyntaxError> {
    let allocator = Allocator::default();
    let text_in_arena = allocator.alloc_str(text);
    let name_in_arena = allocator.alloc_str(name);
    let input =
        Input { text: text_in_arena, name: name_in_arena, dialect: options.dialect, hidden: options.hidden };
    let program = syntax::parse(&allocator, input, goal)?;
    let source = Arc::new(Source::with_hidden(name, text, options.hidden));
    Generator::program(program, &allocator, source, goal, options)
        .map_err(|error| SyntaxError::at(input, error.offset, error.message.into()))
}

/// A scope the generator is inside of.
struct ActiveScope {
    /// Index in the analysis.
    index: u32,
    /// How many functions enclose it.
    depth: u32,
    /// The register of its heap record, if it has one.
    register: Option<Reg>,
    /// The register of each binding that is not captured (by binding index).
    locals: Vec<Reg>,
}

/// The state of code generation for one program.
struct Generator<'a> {
    analysis: Analysis<'a>,
    allocator: &'a Allocator,
    source: Arc<Source>,
    options: CompileOptions,
    eval_site: Option<EvalSite>,
    /// Where escapes in the text stand for lone surrogates.
    surrogates: Vec<u32>,
    /// Scopes of all functions being compiled, innermost last.
    scopes: Vec<ActiveScope>,
    /// The function being compiled.
    f: Builder<'a>,
    /// The functions around it, innermost last.
    outer: Vec<Builder<'a>>,
    /// What the script declares globally.
    globals: GlobalDeclarations,
    /// The names of all of these.
    global_names: FxHashSet<Box<str>>,
    /// Statements and functions until the next look at the deadline.
    until_look: u32,
    /// The functions, by their spans, that need more registers than a frame has.
    spilling: FxHashSet<(u32, u32)>,
    /// One of these has just been found, so that what encloses it has to be compiled again.
    begins_anew: bool,
}

impl<'a> Generator<'a> {
    fn program(
        program: &'a Program<'a>,
        allocator: &'a Allocator,
        source: Arc<Source>,
        goal: Goal<'_>,
        options: CompileOptions,
    ) -> Result<(Arc<FunctionCode>, Option<ModuleCode>)> {
        let (root, kind, site) = match goal {
            Goal::Script => (ScopeKind::Global, CodeKind::Script, None),
            Goal::Module => (ScopeKind::Module, CodeKind::Module, None),
            Goal::Eval { site, .. } => (ScopeKind::Eval, CodeKind::Eval, site),
        };
        let surrogates = match goal {
            Goal::Eval { surrogates, .. } => surrogates.to_vec(),
            _ => Vec::new(),
        };
        let analysis_options = AnalysisOptions {
            root,
            allow_eval: options.allow_eval,
            is_direct_eval: site.is_some(),
            forbids_arguments: site.is_some_and(|site| site.in_field_initializer),
        };
        let analysis = scope::analyze(program, allocator, analysis_options);
        if let Some(offset) = analysis.forbidden_arguments {
            return Err(Unsupported { message: "'arguments' is not allowed in field initializers", offset });
        }
        let mut generator = Self {
            analysis,
            allocator,
            source,
            options,
            eval_site: site.cloned(),
            surrogates,
            scopes: Vec::new(),
            f: Builder::new(kind, "", (0, program.span.end)),
            outer: Vec::new(),
            globals: GlobalDeclarations::default(),
            global_names: FxHashSet::default(),
            until_look: 0,
            spilling: FxHashSet::default(),
            begins_anew: false,
        };
        generator.look_at_deadline(0)?;
        loop {
            let module = generator.top_level(program, kind)?;
            let code = Arc::new(generator.finish_function()?);
            if !std::mem::take(&mut generator.begins_anew) {
                return Ok((code, module));
            }
            generator.scopes.clear();
            generator.f = Builder::new(kind, "", (0, program.span.end));
        }
    }

    fn top_level(&mut self, program: &'a Program<'a>, kind: CodeKind) -> Result<Option<ModuleCode>> {
        self.f.is_generator = kind == CodeKind::Module;
        self.f.is_async = kind == CodeKind::Module;
        let root = self.analysis.scope_of(program, Role::Main).unwrap_or(0);
        self.begin_spilling()?;
        self.load_env(0)?;
        if kind == CodeKind::Module {
            let env = self.env_register()?;
            self.enter_scope_with(root, Some(env))?;
            self.hoist_functions(&program.body)?;
            let module = self.module_entries(&program.body)?;
            self.f.asm.op(Op::GeneratorStart, 0, 0, 0);
            self.module_body(&program.body)?;
            self.emit_final_return(None)?;
            return Ok(Some(module));
        }
        self.enter_scope(root)?;
        self.pseudo_bindings(root)?;
        let completion = self.alloc()?;
        self.f.asm.op(Op::LoadUndefined, completion, 0, 0);
        let discard = kind == CodeKind::Script && self.options.discard_value;
        self.f.completion = (!discard).then_some(completion);
        // String statements at the start are directives in the tree; the last is the value so far.
        if let Some(directive) = program.directives.iter().rfind(|directive| directive.span.end > 0) {
            let text = &directive.expression;
            self.load_string(
                completion,
                expressions::literal_text(text.value.as_str(), text.lone_surrogates),
            );
        }
        if kind == CodeKind::Script {
            self.globals = global_declarations(&program.body);
            let globals = &self.globals;
            let lexicals = globals.lexicals.iter().map(|(name, _)| name);
            let names = globals.vars.iter().chain(&globals.functions).chain(lexicals);
            self.global_names = names.cloned().collect();
        } else {
            self.init_vars(root, None)?;
        }
        self.hoist_functions(&program.body)?;
        self.statement_list(&program.body)?;
        self.f.asm.op(Op::Ret, completion, 0, 0);
        self.f.globals = std::mem::take(&mut self.globals);
        Ok(None)
    }

    /// One statement or function: fails when there is no time left.
    fn poll(&mut self, offset: u32) -> Result {
        match self.until_look.checked_sub(1) {
            Some(left) => {
                self.until_look = left;
                Ok(())
            }
            None => self.look_at_deadline(offset),
        }
    }

    #[cold]
    fn look_at_deadline(&mut self, offset: u32) -> Result {
        self.until_look = limits::COMPILE_POLL_INTERVAL;
        if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Unsupported { message: "there was no time left to compile this", offset });
        }
        Ok(())
    }

    /// Whether the script itself declares the global `name`.
    fn declares_global(&self, name: &str) -> bool {
        self.global_names.contains(name)
    }
}

/// What a script declares globally: of functions of one name, the place of the last counts.
fn global_declarations(statements: &[Statement<'_>]) -> GlobalDeclarations {
    let mut globals = GlobalDeclarations::default();
    let (functions, lexicals) = (&mut globals.functions, &mut globals.lexicals);
    declare::lexical(statements, &mut |name, kind, _| match kind {
        BindingKind::Function => functions.push(name.into()),
        kind => lexicals.push((name.into(), kind.is_const())),
    });
    let mut names = FxHashSet::default();
    functions.reverse();
    functions.retain(|name| names.insert(Box::<str>::clone(name)));
    functions.reverse();
    let vars = &mut globals.vars;
    declare::vars(statements, &mut |name| {
        if names.insert(name.into()) {
            vars.push(name.into());
        }
    });
    globals
}

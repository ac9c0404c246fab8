//! Scope analysis: which variables a program has, where they live and which need an initialisation check.
//!
//! One pass over the tree before code is generated. It declares the bindings of every scope on entry (hoisting), then
//! resolves each reference by name. Afterwards a binding is *captured* if a closure (or direct eval) can see it; only
//! such bindings live in heap scopes, all others are registers. A reference is listed in `checked` if it might run
//! before its binding is initialised; everything else needs no check.
//!
//! `this`, `new.target`, the running function and `arguments` are bindings of their function, made when first named.

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;
use rustc_hash::{FxHashMap, FxHashSet};

use super::declare;

/// The name of the binding that holds the running function, for `super`.
pub(super) const FUNCTION_NAME: &str = "%function";
/// The name of the `new.target` binding.
pub(super) const NEW_TARGET_NAME: &str = "new.target";

/// What a scope belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A script's top level: names resolve at run time.
    Global,
    /// The top level of a module.
    Module,
    /// The top level of eval code.
    Eval,
    /// Parameters and (with simple parameters) the body of a function.
    Function,
    /// A block, loop head, catch clause, class or function-name scope.
    Block,
    /// The cases of a switch.
    Switch,
    /// A class: its inner name, private names and computed field keys.
    Class,
}

/// What kind of variable a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindingKind {
    Var,
    Parameter,
    Function,
    Let,
    Const,
    /// The inner name of a class.
    ClassName,
    /// The name of a function expression inside itself.
    FunctionName,
    /// An imported name.
    Import,
    Private,
    This,
    NewTarget,
    ActiveFunction,
    Arguments,
    /// A value the compiler itself keeps in a scope.
    Hidden,
}

impl BindingKind {
    pub(super) fn is_const(self) -> bool {
        matches!(self, Self::Const | Self::ClassName | Self::FunctionName | Self::Import)
    }
}

/// One variable.
#[derive(Debug)]
pub(super) struct Binding<'a> {
    pub(super) name: &'a str,
    pub(super) kind: BindingKind,
    /// A closure or eval sees it: it lives in the heap.
    pub(super) captured: bool,
    /// Some reference needs the check, so it starts as the uninitialised marker.
    pub(super) needs_marker: bool,
    /// Exported: it lives in a module cell.
    pub(super) exported: bool,
    /// References at or after this offset in the same function find it initialised.
    pub(super) initialized_at: u32,
    /// Filled by the code generator for captured bindings.
    pub(super) slot: u32,
}

/// One scope.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<u32>,
    /// Index of the function it belongs to.
    pub(super) function: u32,
    pub(super) bindings: Vec<Binding<'a>>,
    pub(super) names: FxHashMap<&'a str, u32>,
    /// Where it starts in the source.
    pub(super) start: u32,
    /// Whether it needs a heap record.
    pub(super) is_heap: bool,
    has_eval: bool,
}

/// One function (or field initialiser, or top level).
#[derive(Debug)]
pub(super) struct FunctionScope {
    pub(super) is_arrow: bool,
    /// Closures of it are made at or after this offset of the enclosing function.
    created_at: u32,
    /// Its code is a class element: it cannot run before the class is complete.
    is_class_element: bool,
    /// `this` starts unbound.
    pub(super) is_derived_constructor: bool,
    /// It is a method or field initialiser, where `super.x` is allowed.
    pub(super) is_method: bool,
    pub(super) is_field_initializer: bool,
    /// It (or a function inside it) reads heap scopes of its surroundings.
    pub(super) needs_env: bool,
}

/// The result of the analysis.
pub(super) struct Analysis<'a> {
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) functions: Vec<FunctionScope>,
    by_node: FxHashMap<(usize, Role), u32>,
    /// Addresses of reference nodes that need the initialisation check.
    pub(super) checked: FxHashSet<usize>,
    /// Where `arguments` was used although it is forbidden.
    pub(super) forbidden_arguments: Option<u32>,
}

/// Which scope of a node is meant; functions and classes have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// The node's only or main scope.
    Main,
    /// The name scope of a function expression.
    Name,
    /// The body scope of a function with parameter expressions.
    Body,
    /// The function that initialises a class's instance fields.
    InstanceFields,
    /// The function that runs a class's static fields and blocks.
    StaticElements,
}

/// The identity of a node: the arena never moves it.
pub(super) fn node_key<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

impl<'a> Analysis<'a> {
    /// The scope that was made for `node`.
    pub(super) fn scope_of<T>(&self, node: &T, role: Role) -> Option<u32> {
        self.by_node.get(&(node_key(node), role)).copied()
    }

    /// The scope that was made for the node with this identity.
    pub(super) fn scope_of_key(&self, key: usize, role: Role) -> Option<u32> {
        self.by_node.get(&(key, role)).copied()
    }

    pub(super) fn scope(&self, index: u32) -> &Scope<'a> {
        &self.scopes[index as usize]
    }
}

/// What the analysis needs to know of the surroundings.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnalysisOptions {
    pub(super) root: ScopeKind,
    /// `eval(...)` may be direct eval; otherwise it is an ordinary call.
    pub(super) allow_eval: bool,
    /// The root is eval code that runs inside its caller's scopes.
    pub(super) is_direct_eval: bool,
    /// `arguments` is an error in the root: eval inside a field initialiser.
    pub(super) forbids_arguments: bool,
}

/// Analyses `program`.
pub(super) fn analyze<'a>(
    program: &'a Program<'a>,
    allocator: &'a Allocator,
    options: AnalysisOptions,
) -> Analysis<'a> {
    let mut analyzer = Analyzer {
        out: Analysis {
            scopes: Vec::new(),
            functions: Vec::new(),
            by_node: FxHashMap::default(),
            checked: FxHashSet::default(),
            forbidden_arguments: None,
        },
        current: 0,
        options,
        allocator,
    };
    analyzer.out.functions.push(FunctionScope {
        is_arrow: options.is_direct_eval,
        created_at: 0,
        is_class_element: false,
        is_derived_constructor: false,
        is_method: false,
        is_field_initializer: false,
        needs_env: false,
    });
    let root = analyzer.push_scope(options.root, 0, 0);
    analyzer.out.by_node.insert((node_key(program), Role::Main), root);
    if options.root != ScopeKind::Global {
        analyzer.declare_body(&program.body);
    }
    if options.root == ScopeKind::Module {
        declare::module(&program.body, &mut |name, change| analyzer.module_name(name, change));
    }
    analyzer.statements(&program.body);
    analyzer.finish()
}

/// What module syntax says of a top-level name.
pub(super) enum ModuleName {
    Imported,
    Namespace,
    Exported,
}

pub(super) struct Analyzer<'a> {
    out: Analysis<'a>,
    current: u32,
    options: AnalysisOptions,
    allocator: &'a Allocator,
}

impl<'a> Analyzer<'a> {
    fn push_scope(&mut self, kind: ScopeKind, function: u32, start: u32) -> u32 {
        let index = self.out.scopes.len() as u32;
        self.out.scopes.push(Scope {
            kind,
            parent: (index > 0).then_some(self.current),
            function,
            bindings: Vec::new(),
            names: FxHashMap::default(),
            start,
            is_heap: false,
            has_eval: false,
        });
        self.current = index;
        index
    }

    fn enter<T>(&mut self, node: &T, role: Role, kind: ScopeKind, start: u32) -> u32 {
        let saved = self.current;
        let function = self.scope().function;
        let index = self.push_scope(kind, function, start);
        self.out.by_node.insert((node_key(node), role), index);
        saved
    }

    fn scope(&mut self) -> &mut Scope<'a> {
        &mut self.out.scopes[self.current as usize]
    }

    fn declare(&mut self, name: &'a str, kind: BindingKind, initialized_at: u32) {
        let scope = self.scope();
        if let Some(&index) = scope.names.get(name) {
            // `var` over a parameter keeps the parameter; a function takes the name over.
            if kind == BindingKind::Function {
                scope.bindings[index as usize].kind = kind;
            }
            return;
        }
        scope.names.insert(name, scope.bindings.len() as u32);
        scope.bindings.push(Binding {
            name,
            kind,
            captured: false,
            needs_marker: false,
            exported: false,
            initialized_at,
            slot: 0,
        });
    }

    fn module_name(&mut self, name: &'a str, change: ModuleName) {
        match change {
            ModuleName::Imported => {
                self.declare(name, BindingKind::Import, 0);
                let index = self.scope().names[name] as usize;
                self.scope().bindings[index].exported = true;
            }
            ModuleName::Namespace => {
                self.declare(name, BindingKind::Import, 0);
            }
            ModuleName::Exported => {
                if let Some(&index) = self.scope().names.get(name) {
                    self.scope().bindings[index as usize].exported = true;
                }
            }
        }
        if let Some(&index) = self.scope().names.get(name) {
            self.scope().bindings[index as usize].captured = true;
        }
    }

    fn statements(&mut self, statements: &[Statement<'a>]) {
        statements.iter().for_each(|statement| self.visit_statement(statement));
    }

    fn declare_lexical(&mut self, statements: &[Statement<'a>]) {
        declare::lexical(statements, &mut |name, kind, at| self.declare(name, kind, at));
    }

    /// Declares everything a function body or top level has.
    fn declare_body(&mut self, statements: &[Statement<'a>]) {
        declare::vars(statements, &mut |name| self.declare(name, BindingKind::Var, 0));
        self.declare_lexical(statements);
    }

    /// Resolves `name` from the current scope; `site` is the reference for the list of checks.
    fn reference(&mut self, name: &'a str, position: u32, site: Option<usize>) {
        let from = self.scope().function;
        let mut index = self.current;
        let mut boundary: Option<(u32, u32)> = None;
        loop {
            self.make_pseudo_binding(index, name);
            let scope = &self.out.scopes[index as usize];
            if let Some(&binding) = scope.names.get(name) {
                let crossed = boundary.map(|(function, at)| (&self.out.functions[function as usize], at));
                let needs_check = needs_check(scope, &scope.bindings[binding as usize], position, crossed);
                let owner = scope.function;
                let is_captured = owner != from;
                let binding = &mut self.out.scopes[index as usize].bindings[binding as usize];
                binding.captured |= is_captured;
                binding.needs_marker |= needs_check;
                if let (true, Some(site)) = (needs_check, site) {
                    self.out.checked.insert(site);
                }
                self.mark_env(Some(owner));
                return;
            }
            let Some(parent) = scope.parent else {
                if name == "arguments" && self.options.forbids_arguments && site.is_some() {
                    self.out.forbidden_arguments = Some(position);
                }
                if self.options.is_direct_eval {
                    self.mark_env(None);
                }
                return;
            };
            if self.out.scopes[parent as usize].function != scope.function {
                boundary = Some((scope.function, self.out.functions[scope.function as usize].created_at));
            }
            index = parent;
        }
    }

    /// Every function from the current one out to `owner` (exclusive) reads scopes of its surroundings.
    fn mark_env(&mut self, owner: Option<u32>) {
        let mut index = Some(self.current);
        while let Some(at) = index {
            let scope = &self.out.scopes[at as usize];
            if Some(scope.function) == owner {
                return;
            }
            self.out.functions[scope.function as usize].needs_env = true;
            index = scope.parent;
        }
    }

    /// Makes `this`, `arguments` and the like in the scope of the function that has them.
    fn make_pseudo_binding(&mut self, index: u32, name: &'a str) {
        let kind = match name {
            "this" => BindingKind::This,
            NEW_TARGET_NAME => BindingKind::NewTarget,
            FUNCTION_NAME => BindingKind::ActiveFunction,
            "arguments" => BindingKind::Arguments,
            _ => return,
        };
        let scope = &self.out.scopes[index as usize];
        let is_root = matches!(scope.kind, ScopeKind::Global | ScopeKind::Module);
        let is_function = matches!(scope.kind, ScopeKind::Function | ScopeKind::Eval);
        let function = &self.out.functions[scope.function as usize];
        let is_eval_root = scope.kind == ScopeKind::Eval && kind == BindingKind::Arguments;
        let owner = (is_function && !function.is_arrow && !is_eval_root)
            || (is_root && kind != BindingKind::Arguments);
        if owner && !scope.names.contains_key(name) {
            let marker = kind == BindingKind::This && function.is_derived_constructor;
            let saved = std::mem::replace(&mut self.current, index);
            self.declare(name, kind, 0);
            let made = self.scope().bindings.last_mut();
            if let Some(binding) = made {
                binding.needs_marker = marker;
            }
            self.current = saved;
        }
    }

    /// Direct eval sees every variable around it.
    fn mark_eval(&mut self) {
        for name in ["this", NEW_TARGET_NAME, FUNCTION_NAME, "arguments"] {
            self.reference(name, u32::MAX, None);
        }
        self.mark_env(None);
        let mut index = Some(self.current);
        while let Some(at) = index {
            let scope = &mut self.out.scopes[at as usize];
            scope.has_eval = true;
            index = scope.parent;
        }
    }

    fn finish(mut self) -> Analysis<'a> {
        for scope in &mut self.out.scopes {
            let mut next = 0;
            for binding in &mut scope.bindings {
                let is_variable = scope.kind != ScopeKind::Global || binding.kind != BindingKind::Var;
                if scope.has_eval && is_variable {
                    binding.captured = true;
                    binding.needs_marker |= matches!(
                        binding.kind,
                        BindingKind::Let | BindingKind::Const | BindingKind::ClassName
                    );
                }
                if binding.captured {
                    binding.slot = next;
                    next += 1;
                }
            }
            scope.is_heap = next > 0 || scope.kind == ScopeKind::Module;
        }
        self.out
    }

    fn function_scope<T>(&mut self, node: &T, role: Role, start: u32, function: FunctionScope) -> u32 {
        let saved = self.current;
        let index = self.out.functions.len() as u32;
        self.out.functions.push(function);
        let scope = self.push_scope(ScopeKind::Function, index, start);
        self.out.by_node.insert((node_key(node), role), scope);
        saved
    }

    fn parameters(
        &mut self,
        params: &FormalParameters<'a>,
        body: &[Statement<'a>],
        body_key: usize,
        body_start: u32,
    ) {
        for item in &params.items {
            let end = item.span.end;
            declare::pattern(&item.pattern, &mut |name| self.declare(name, BindingKind::Parameter, end));
        }
        if let Some(rest) = &params.rest {
            let end = rest.span.end;
            declare::pattern(&rest.rest.argument, &mut |name| {
                self.declare(name, BindingKind::Parameter, end)
            });
        }
        if declare::has_parameter_expressions(params) {
            self.visit_formal_parameters(params);
            let function = self.scope().function;
            let scope = self.push_scope(ScopeKind::Block, function, body_start);
            self.out.by_node.insert((body_key, Role::Body), scope);
            self.declare_body(body);
        } else {
            for binding in &mut self.scope().bindings {
                binding.initialized_at = 0;
            }
            self.declare_body(body);
            self.visit_formal_parameters(params);
        }
        self.statements(body);
    }

    /// A function's scopes; `class_element` and `derived` describe methods of classes.
    pub(super) fn function(&mut self, function: &Function<'a>, place: FunctionPlace) {
        let saved = self.current;
        let is_expression = function.r#type == FunctionType::FunctionExpression;
        let created_at = match place {
            FunctionPlace::Plain if !is_expression => self.scope().start,
            _ => function.span.start,
        };
        let info = FunctionScope {
            is_arrow: false,
            created_at,
            is_class_element: matches!(place, FunctionPlace::ClassElement { .. }),
            is_derived_constructor: matches!(place, FunctionPlace::ClassElement { derived: true }),
            is_method: place != FunctionPlace::Plain,
            is_field_initializer: false,
            needs_env: false,
        };
        self.function_scope(function, Role::Main, function.span.start, info);
        if let Some(id) = function.id.as_ref().filter(|_| is_expression && place == FunctionPlace::Plain) {
            // The name scope lies between the surroundings and the parameters, and belongs to the function itself.
            let inner = self.current;
            let index = self.scope().function;
            self.current = saved;
            let name_scope = self.push_scope(ScopeKind::Block, index, function.span.start);
            self.declare(id.name.as_str(), BindingKind::FunctionName, 0);
            self.out.by_node.insert((node_key(function), Role::Name), name_scope);
            self.out.scopes[inner as usize].parent = Some(name_scope);
            self.current = inner;
        }
        if matches!(place, FunctionPlace::ClassElement { derived: true }) {
            // The end of the constructor reads it.
            self.reference("this", u32::MAX, None);
        }
        if let Some(body) = &function.body {
            self.parameters(&function.params, &body.statements, node_key(function), body.span.start);
        }
        self.current = saved;
    }

    fn class_fields(&mut self, class: &Class<'a>, role: Role, is_static: bool) {
        let has_any = class.body.body.iter().any(|element| declare::is_initialized(element, is_static));
        if !has_any {
            return;
        }
        let info = FunctionScope {
            is_arrow: false,
            created_at: class.span.start,
            is_class_element: true,
            is_derived_constructor: false,
            is_method: true,
            is_field_initializer: true,
            needs_env: false,
        };
        let saved = self.function_scope(class, role, class.span.start, info);
        self.reference("this", u32::MAX, None);
        for (index, element) in class.body.body.iter().enumerate() {
            if !declare::is_initialized(element, is_static) {
                continue;
            }
            match element {
                ClassElement::PropertyDefinition(field) => {
                    self.field_key(&field.key, index);
                    if let Some(value) = &field.value {
                        self.visit_expression(value);
                    }
                }
                ClassElement::MethodDefinition(_) => {
                    self.reference(private_key_name(self.allocator, element), 0, None);
                    self.reference(hidden_key_name(self.allocator, index), 0, None);
                }
                ClassElement::AccessorProperty(field) => {
                    self.reference(accessor_storage_name(self.allocator, index), 0, None);
                    if let Some(value) = &field.value {
                        self.visit_expression(value);
                    }
                }
                ClassElement::StaticBlock(block) => {
                    let outer = self.enter(&**block, Role::Main, ScopeKind::Block, block.span.start);
                    self.declare_body(&block.body);
                    self.statements(&block.body);
                    self.current = outer;
                }
                _ => {}
            }
        }
        self.current = saved;
    }

    /// The initialiser function reads private names and computed keys from the class scope.
    fn field_key(&mut self, key: &PropertyKey<'a>, index: usize) {
        match key {
            PropertyKey::PrivateIdentifier(name) => {
                self.reference(private_name(self.allocator, &name.name), 0, None)
            }
            PropertyKey::StaticIdentifier(_) => {}
            _ => self.reference(hidden_key_name(self.allocator, index), 0, None),
        }
    }

    fn class(&mut self, class: &Class<'a>) {
        let saved = self.enter(class, Role::Main, ScopeKind::Class, class.span.start);
        if let Some(id) = &class.id {
            self.declare(id.name.as_str(), BindingKind::ClassName, class.span.end);
        }
        for (index, element) in class.body.body.iter().enumerate() {
            if let Some(PropertyKey::PrivateIdentifier(name)) = element.property_key() {
                let name = private_name(self.allocator, &name.name);
                self.declare(name, BindingKind::Private, 0);
            }
            if let ClassElement::AccessorProperty(_) = element {
                self.declare(accessor_storage_name(self.allocator, index), BindingKind::Hidden, 0);
            }
            if declare::has_hidden_value(element) {
                self.declare(hidden_key_name(self.allocator, index), BindingKind::Hidden, 0);
            }
        }
        if let Some(heritage) = &class.heritage {
            self.visit_expression(&heritage.expression);
        }
        let derived = class.heritage.is_some();
        for element in &class.body.body {
            if let Some(key) = element.property_key()
                && !matches!(key, PropertyKey::StaticIdentifier(_) | PropertyKey::PrivateIdentifier(_))
            {
                self.visit_property_key(key);
            }
            if let ClassElement::MethodDefinition(method) = element {
                let derived = derived && method.kind == MethodDefinitionKind::Constructor;
                self.function(&method.value, FunctionPlace::ClassElement { derived });
            }
        }
        self.class_fields(class, Role::InstanceFields, false);
        self.class_fields(class, Role::StaticElements, true);
        self.current = saved;
    }
}

/// Where a function expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionPlace {
    Plain,
    /// Method, getter or setter of an object literal.
    ObjectMethod,
    ClassElement {
        derived: bool,
    },
}

/// `#name`, as the class scope knows it.
pub(super) fn private_name<'a>(allocator: &'a Allocator, name: &str) -> &'a str {
    allocator.alloc_str(&format!("#{name}"))
}

/// The private name that is the key of `element`.
fn private_key_name<'a>(allocator: &'a Allocator, element: &ClassElement<'a>) -> &'a str {
    match element.property_key() {
        Some(PropertyKey::PrivateIdentifier(name)) => private_name(allocator, &name.name),
        _ => "",
    }
}

/// The binding that keeps the computed key of the field at `index` of its class, or its private method.
pub(super) fn hidden_key_name(allocator: &Allocator, index: usize) -> &str {
    allocator.alloc_str(&format!("%key{index}"))
}

/// The binding that keeps the private name behind an `accessor` field.
pub(super) fn accessor_storage_name(allocator: &Allocator, index: usize) -> &str {
    allocator.alloc_str(&format!("%accessor{index}"))
}

/// Whether a reference might run before its binding is initialised.
fn needs_check(
    scope: &Scope<'_>,
    binding: &Binding<'_>,
    position: u32,
    crossed: Option<(&FunctionScope, u32)>,
) -> bool {
    match binding.kind {
        BindingKind::Let | BindingKind::Const | BindingKind::ClassName => {}
        BindingKind::Parameter if binding.initialized_at > 0 => {}
        BindingKind::Import => return true,
        BindingKind::This => return binding.needs_marker,
        _ => return false,
    }
    if scope.kind == ScopeKind::Switch {
        return true;
    }
    match crossed {
        None => position < binding.initialized_at,
        Some((function, created_at)) => {
            let in_own_class = binding.kind == BindingKind::ClassName && function.is_class_element;
            !in_own_class && created_at < binding.initialized_at
        }
    }
}

impl<'a> Visit<'a> for Analyzer<'a> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.reference(it.name.as_str(), it.span.start, Some(node_key(it)));
    }

    fn visit_this_expression(&mut self, it: &ThisExpression) {
        self.reference("this", it.span.start, Some(node_key(it)));
    }

    fn visit_super(&mut self, it: &Super) {
        self.reference("this", it.span.start, Some(node_key(it)));
        self.reference(FUNCTION_NAME, it.span.start, None);
        // `super()` needs it; cheap enough for `super.x`.
        self.reference(NEW_TARGET_NAME, it.span.start, None);
    }

    fn visit_new_target(&mut self, it: &NewTarget) {
        self.reference(NEW_TARGET_NAME, it.span.start, None);
    }

    fn visit_private_identifier(&mut self, it: &PrivateIdentifier<'a>) {
        self.reference(private_name(self.allocator, &it.name), it.span.start, None);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if self.options.allow_eval && matches!(&it.callee, Expression::Identifier(id) if id.name == "eval") {
            self.mark_eval();
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, _flags: ScopeFlags) {
        self.function(it, FunctionPlace::Plain);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if !matches!(it.key, PropertyKey::StaticIdentifier(_)) {
            self.visit_property_key(&it.key);
        }
        match &it.value {
            Expression::FunctionExpression(function) if it.method || it.kind != PropertyKind::Init => {
                self.function(function, FunctionPlace::ObjectMethod);
            }
            value => self.visit_expression(value),
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let info = FunctionScope {
            is_arrow: true,
            created_at: it.span.start,
            is_class_element: false,
            is_derived_constructor: false,
            is_method: false,
            is_field_initializer: false,
            needs_env: false,
        };
        let saved = self.function_scope(it, Role::Main, it.span.start, info);
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => {
                self.parameters(&it.params, &body.statements, node_key(it), body.span.start);
            }
            body => {
                self.parameters(&it.params, &[], node_key(it), it.span.start);
                if let Some(expression) = body.as_expression() {
                    self.visit_expression(expression);
                }
            }
        }
        self.current = saved;
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        let saved = self.enter(it, Role::Main, ScopeKind::Block, it.span.start);
        self.declare_lexical(&it.body);
        self.statements(&it.body);
        self.current = saved;
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.visit_expression(&it.discriminant);
        let saved = self.enter(it, Role::Main, ScopeKind::Switch, it.span.start);
        for case in &it.cases {
            self.declare_lexical(&case.consequent);
        }
        walk::walk_switch_cases(self, &it.cases);
        self.current = saved;
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        let saved = self.enter(it, Role::Main, ScopeKind::Block, it.span.start);
        if let Some(ForStatementInit::VariableDeclaration(declaration)) = &it.init {
            declare::lexical_declaration(declaration, &mut |name, kind, at| self.declare(name, kind, at));
        }
        walk::walk_for_statement(self, it);
        self.current = saved;
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        let saved = self.enter(it, Role::Main, ScopeKind::Block, it.span.start);
        self.for_head(&it.left, it.right.span().end);
        walk::walk_for_in_statement(self, it);
        self.current = saved;
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        let saved = self.enter(it, Role::Main, ScopeKind::Block, it.span.start);
        self.for_head(&it.left, it.right.span().end);
        walk::walk_for_of_statement(self, it);
        self.current = saved;
    }

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        let saved = self.enter(it, Role::Main, ScopeKind::Block, it.span.start);
        if let Some(param) = &it.param {
            declare::pattern(&param.pattern, &mut |name| self.declare(name, BindingKind::Let, 0));
        }
        walk::walk_catch_clause(self, it);
        self.current = saved;
    }

    // Types are stripped: nothing in them is a reference.
    fn visit_ts_type_annotation(&mut self, _it: &TSTypeAnnotation<'a>) {}
    fn visit_ts_type_parameter_instantiation(&mut self, _it: &TSTypeParameterInstantiation<'a>) {}
    fn visit_ts_type_parameter_declaration(&mut self, _it: &TSTypeParameterDeclaration<'a>) {}
    fn visit_ts_type_alias_declaration(&mut self, _it: &TSTypeAliasDeclaration<'a>) {}
    fn visit_ts_interface_declaration(&mut self, _it: &TSInterfaceDeclaration<'a>) {}
    fn visit_ts_type(&mut self, _it: &TSType<'a>) {}
}

impl<'a> Analyzer<'a> {
    fn for_head(&mut self, left: &ForStatementLeft<'a>, initialized_at: u32) {
        if let ForStatementLeft::VariableDeclaration(declaration) = left {
            declare::lexical_declaration(declaration, &mut |name, kind, _| {
                self.declare(name, kind, initialized_at);
            });
        }
    }
}

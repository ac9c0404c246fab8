//! Which names are arrays: what is used as one, what is handed to a parameter that is one, and the parameters that get one.
//! A name that is both, or a function that is not there, gives `None`: the utility declines.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::code::{SPECIAL, SPECIAL_ARRAYS};
use super::tree::{Builtin, Expression, Guard, Place, Program, Source, Statement, Target};

/// A name: of a function's parameter, or of all.
type Known = (Option<usize>, Rc<str>);

#[derive(Default)]
pub(super) struct Kinds {
    arrays: HashSet<Known>,
    scalars: HashSet<Known>,
    /// Names that stand alone as arguments: who calls, the name, the function, the parameter.
    passed: Vec<(Known, usize, usize)>,
    functions: HashMap<Rc<str>, usize>,
    parameters: Vec<Vec<Rc<str>>>,
    within: Option<usize>,
    wrong: bool,
}

/// Looks at a whole program.
pub(super) fn kinds(program: &Program) -> Option<Kinds> {
    let mut kinds = Kinds::default();
    for (number, function) in program.functions.iter().enumerate() {
        let reserved = SPECIAL.contains(&&*function.name) || SPECIAL_ARRAYS.contains(&&*function.name);
        if reserved || kinds.functions.insert(Rc::clone(&function.name), number).is_some() {
            return None;
        }
        if function
            .parameters
            .iter()
            .any(|name| SPECIAL.contains(&&**name) || SPECIAL_ARRAYS.contains(&&**name))
        {
            return None;
        }
        kinds.parameters.push(function.parameters.clone());
    }
    for name in SPECIAL {
        kinds.scalars.insert((None, Rc::from(*name)));
    }
    for name in SPECIAL_ARRAYS {
        kinds.arrays.insert((None, Rc::from(*name)));
    }
    for rule in &program.rules {
        match &rule.guard {
            Guard::When(one) => kinds.expression(one),
            Guard::Range(one, other) => {
                kinds.expression(one);
                kinds.expression(other);
            }
            _ => {}
        }
        rule.body.iter().flatten().for_each(|statement| kinds.statement(statement));
    }
    for (number, function) in program.functions.iter().enumerate() {
        kinds.within = Some(number);
        function.body.iter().for_each(|statement| kinds.statement(statement));
    }
    kinds.spread();
    let both = kinds.arrays.iter().any(|known| kinds.scalars.contains(known));
    let function = |(_, name): &Known| kinds.functions.contains_key(name);
    let shadowed = kinds.arrays.iter().chain(&kinds.scalars).any(function);
    (!kinds.wrong && !both && !shadowed).then_some(kinds)
}

impl Kinds {
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }

    /// Whether a name is an array, seen from a function.
    pub(super) fn is_array(&self, within: Option<usize>, name: &Rc<str>) -> bool {
        self.arrays.contains(&self.known(within, name))
    }

    fn known(&self, within: Option<usize>, name: &Rc<str>) -> Known {
        let own = within
            .filter(|function| self.parameters.get(*function).is_some_and(|names| names.contains(name)));
        (own, Rc::clone(name))
    }

    /// Arguments and parameters are of one kind.
    fn spread(&mut self) {
        loop {
            let mut changed = false;
            for (known, function, index) in &self.passed {
                let Some(name) = self.parameters.get(*function).and_then(|names| names.get(*index)) else {
                    continue;
                };
                let parameter = (Some(*function), Rc::clone(name));
                if self.arrays.contains(known) || self.arrays.contains(&parameter) {
                    changed |= self.arrays.insert(known.clone());
                    changed |= self.arrays.insert(parameter);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn array(&mut self, name: &Rc<str>) {
        let known = self.known(self.within, name);
        self.arrays.insert(known);
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Variable(name) => {
                let known = self.known(self.within, name);
                self.scalars.insert(known);
            }
            Place::Field(index) => self.expression(index),
            Place::Element(name, index) => {
                self.array(name);
                self.expressions(index);
            }
        }
    }

    fn expressions(&mut self, list: &[Expression]) {
        list.iter().for_each(|one| self.expression(one));
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Number(_) | Expression::Text(_) | Expression::Pattern(_) => {}
            Expression::Place(place) | Expression::Step(place, ..) => self.place(place),
            Expression::Assign(place, _, value) => {
                self.place(place);
                self.expression(value);
            }
            Expression::Binary(_, left, right)
            | Expression::And(left, right)
            | Expression::Or(left, right)
            | Expression::Match(left, right, _) => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Not(one)
            | Expression::Negate(one)
            | Expression::Plus(one)
            | Expression::Group(one) => self.expression(one),
            Expression::Conditional(one, two, three) => {
                [one, two, three].into_iter().for_each(|part| self.expression(part));
            }
            Expression::In(index, array) => {
                self.expressions(index);
                self.array(array);
            }
            Expression::List(items) => self.expressions(items),
            Expression::Call(name, arguments) => self.call(name, arguments),
            Expression::Builtin(Builtin::Split, arguments) => {
                for (number, argument) in arguments.iter().enumerate() {
                    match argument {
                        Expression::Place(Place::Variable(name)) if number == 1 => self.array(name),
                        other => self.expression(other),
                    }
                }
            }
            Expression::Builtin(Builtin::Length, arguments) => {
                if let [Expression::Place(Place::Variable(_))] = arguments.as_slice() {
                    // Of either.
                } else {
                    self.expressions(arguments);
                }
            }
            Expression::Builtin(_, arguments) => self.expressions(arguments),
            Expression::Getline(place, source) => {
                if let Some(place) = place {
                    self.place(place);
                }
                if let Source::File(name) = source {
                    self.expression(name);
                }
            }
        }
    }

    fn call(&mut self, name: &Rc<str>, arguments: &[Expression]) {
        let Some(function) = self.function(name) else {
            self.wrong = true;
            return;
        };
        self.wrong |= arguments.len() > self.parameters.get(function).map_or(0, Vec::len);
        for (index, argument) in arguments.iter().enumerate() {
            match argument {
                Expression::Place(Place::Variable(name)) => {
                    let known = self.known(self.within, name);
                    self.passed.push((known, function, index));
                }
                other => self.expression(other),
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Expression(one) => self.expression(one),
            Statement::Print(list, target) | Statement::Printf(list, target) => {
                self.expressions(list);
                if let Target::File(name) | Target::Append(name) = target {
                    self.expression(name);
                }
            }
            Statement::If(condition, then, other) => {
                self.expression(condition);
                self.statement(then);
                other.iter().for_each(|other| self.statement(other));
            }
            Statement::While(condition, body) | Statement::Do(body, condition) => {
                self.expression(condition);
                self.statement(body);
            }
            Statement::For(first, condition, last, body) => {
                first.iter().for_each(|one| self.statement(one));
                condition.iter().for_each(|one| self.expression(one));
                last.iter().for_each(|one| self.statement(one));
                self.statement(body);
            }
            Statement::ForIn(variable, array, body) => {
                self.place(&Place::Variable(Rc::clone(variable)));
                self.array(array);
                self.statement(body);
            }
            Statement::Block(list) => list.iter().for_each(|one| self.statement(one)),
            Statement::Exit(Some(value)) | Statement::Return(Some(value)) => self.expression(value),
            Statement::Delete(array, index) => {
                self.array(array);
                self.expressions(index);
            }
            _ => {}
        }
    }
}

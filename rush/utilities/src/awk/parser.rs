//! Reads programs by the grammar of POSIX. What that leaves open, and what only some awks have, gives `None`: the utility declines.

use std::rc::Rc;

use super::lexer::{Keyword, Token};
use super::tree::{
    Binary, Builtin, Expression, Function, Guard, Place, Program, Rule, Source, Statement, Target,
};
use crate::limits::{AWK_DEPTH_MAX, AWK_OPERATORS_MAX};

/// The program that the tokens say.
pub(super) fn parse(tokens: &[Token]) -> Option<Program> {
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        operators: 0,
        greater_is_target: false,
        loops: 0,
        in_function: false,
    };
    parser.program()
}

pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// Operators of the present expression, which may all lie within each other.
    operators: usize,
    /// Within `print` outside of parentheses `>` names a file.
    greater_is_target: bool,
    loops: usize,
    in_function: bool,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn ahead(&self, count: usize) -> &Token {
        self.tokens.get(self.at + count).unwrap_or(&Token::End)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        *self.peek() == Token::Keyword(keyword)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.is_keyword(keyword);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Option<()> {
        self.take(sign).then_some(())
    }

    fn newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.at += 1;
        }
    }

    /// One more operator.
    fn operator(&mut self) -> Option<()> {
        self.operators += 1;
        (self.operators <= AWK_OPERATORS_MAX).then_some(())
    }

    /// Newlines and semicolons.
    fn terminators(&mut self) {
        while *self.peek() == Token::Newline || self.is(";") {
            self.at += 1;
        }
    }

    fn name(&mut self) -> Option<Rc<str>> {
        let Token::Name(name) = self.peek() else { return None };
        let name = Rc::clone(name);
        self.at += 1;
        Some(name)
    }

    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        self.depth += 1;
        let result = if self.depth > AWK_DEPTH_MAX { None } else { read(self) };
        self.depth -= 1;
        result
    }

    fn program(&mut self) -> Option<Program> {
        let mut program = Program::default();
        self.terminators();
        while *self.peek() != Token::End {
            if self.take_keyword(Keyword::Function) {
                program.functions.push(self.function()?);
            } else {
                program.rules.push(self.rule()?);
            }
            // A rule without statements ends with its line; others need no end.
            self.terminators();
        }
        Some(program)
    }

    fn function(&mut self) -> Option<Function> {
        let (Token::Name(name) | Token::Callee(name)) = self.peek().clone() else { return None };
        self.at += 1;
        self.expect("(")?;
        let mut parameters: Vec<Rc<str>> = Vec::new();
        while !self.take(")") {
            if !parameters.is_empty() {
                self.expect(",")?;
                self.newlines();
            }
            let parameter = self.name()?;
            if parameters.contains(&parameter) || parameter == name {
                return None;
            }
            parameters.push(parameter);
        }
        self.newlines();
        self.in_function = true;
        let body = self.block()?;
        self.in_function = false;
        Some(Function { name, parameters, body })
    }

    fn rule(&mut self) -> Option<Rule> {
        let guard = if self.take_keyword(Keyword::Begin) {
            Guard::Begin
        } else if self.take_keyword(Keyword::End) {
            Guard::End
        } else if self.is("{") {
            Guard::Always
        } else {
            self.operators = 0;
            let first = self.expression()?;
            if self.take(",") {
                self.newlines();
                Guard::Range(first, self.expression()?)
            } else {
                Guard::When(first)
            }
        };
        if self.is("{") {
            return Some(Rule { guard, body: Some(self.block()?) });
        }
        let ended = *self.peek() == Token::Newline || self.is(";");
        (ended && !matches!(guard, Guard::Begin | Guard::End)).then_some(Rule { guard, body: None })
    }

    /// Statements in braces.
    fn block(&mut self) -> Option<Vec<Statement>> {
        self.expect("{")?;
        let mut statements = Vec::new();
        loop {
            self.terminators();
            if self.take("}") {
                return Some(statements);
            }
            statements.push(self.statement()?);
        }
    }

    /// A statement as the body of another: an empty one is a semicolon.
    fn body(&mut self) -> Option<Statement> {
        self.newlines();
        if self.take(";") {
            return Some(Statement::Block(Vec::new()));
        }
        self.statement()
    }

    fn looped(&mut self) -> Option<Box<Statement>> {
        self.loops += 1;
        let body = self.body();
        self.loops -= 1;
        body.map(Box::new)
    }

    fn statement(&mut self) -> Option<Statement> {
        self.nested(Self::statement_within)
    }

    fn statement_within(&mut self) -> Option<Statement> {
        self.operators = 0;
        if self.is("{") {
            return Some(Statement::Block(self.block()?));
        }
        let Token::Keyword(keyword) = *self.peek() else {
            let simple = self.simple()?;
            self.end()?;
            return Some(simple);
        };
        match keyword {
            Keyword::If => {
                self.at += 1;
                let condition = self.parenthesised()?;
                let then = Box::new(self.body()?);
                let mark = self.at;
                self.terminators();
                if self.take_keyword(Keyword::Else) {
                    return Some(Statement::If(condition, then, Some(Box::new(self.body()?))));
                }
                self.at = mark;
                Some(Statement::If(condition, then, None))
            }
            Keyword::While => {
                self.at += 1;
                let condition = self.parenthesised()?;
                Some(Statement::While(condition, self.looped()?))
            }
            Keyword::Do => {
                self.at += 1;
                let body = self.looped()?;
                self.terminators();
                if !self.take_keyword(Keyword::While) {
                    return None;
                }
                let condition = self.parenthesised()?;
                self.end()?;
                Some(Statement::Do(body, condition))
            }
            Keyword::For => self.for_statement(),
            _ => {
                let simple = self.simple()?;
                self.end()?;
                Some(simple)
            }
        }
    }

    fn parenthesised(&mut self) -> Option<Expression> {
        self.expect("(")?;
        let condition = self.plainly(Self::expression)?;
        self.expect(")")?;
        Some(condition)
    }

    fn for_statement(&mut self) -> Option<Statement> {
        self.at += 1;
        self.expect("(")?;
        if let (Token::Name(variable), Token::Keyword(Keyword::In), Token::Name(array), Token::Sign(")")) =
            (self.peek().clone(), self.ahead(1), self.ahead(2).clone(), self.ahead(3))
        {
            self.at += 4;
            return Some(Statement::ForIn(variable, array, self.looped()?));
        }
        let first = if self.is(";") { None } else { Some(Box::new(self.plainly(Self::simple)?)) };
        self.expect(";")?;
        self.newlines();
        let condition = if self.is(";") { None } else { Some(self.plainly(Self::expression)?) };
        self.expect(";")?;
        self.newlines();
        let last = if self.is(")") { None } else { Some(Box::new(self.plainly(Self::simple)?)) };
        self.expect(")")?;
        Some(Statement::For(first, condition, last, self.looped()?))
    }

    /// The end of a simple statement; a brace is left where it is.
    fn end(&mut self) -> Option<()> {
        if *self.peek() == Token::Newline || self.is(";") {
            self.at += 1;
            return Some(());
        }
        self.is("}").then_some(())
    }

    /// What may stand in the head of a `for`, too.
    fn simple(&mut self) -> Option<Statement> {
        let Token::Keyword(keyword) = *self.peek() else {
            return Some(Statement::Expression(self.expression()?));
        };
        let ends = |token: &Token| matches!(token, Token::Newline | Token::Sign(";" | "}"));
        match keyword {
            Keyword::Getline => return Some(Statement::Expression(self.expression()?)),
            Keyword::Print | Keyword::Printf => return self.print(keyword == Keyword::Printf),
            _ => self.at += 1,
        }
        match keyword {
            Keyword::Next => (!self.in_function).then_some(Statement::Next),
            Keyword::Nextfile => (!self.in_function).then_some(Statement::NextFile),
            Keyword::Break => (self.loops > 0).then_some(Statement::Break),
            Keyword::Continue => (self.loops > 0).then_some(Statement::Continue),
            Keyword::Exit | Keyword::Return => {
                let value = if ends(self.peek()) { None } else { Some(self.expression()?) };
                match keyword {
                    Keyword::Exit => Some(Statement::Exit(value)),
                    _ => self.in_function.then_some(Statement::Return(value)),
                }
            }
            Keyword::Delete => {
                let array = self.name()?;
                let mut index = Vec::new();
                if self.take("[") {
                    index = self.plainly(|parser| parser.list("]"))?;
                    (!index.is_empty()).then_some(())?;
                }
                Some(Statement::Delete(array, index))
            }
            _ => None,
        }
    }

    fn print(&mut self, formatted: bool) -> Option<Statement> {
        self.at += 1;
        let mut list = Vec::new();
        let ends =
            |parser: &Self| matches!(parser.peek(), Token::Newline | Token::Sign(";" | "}" | ">" | ">>"));
        if !ends(self) {
            let outer = std::mem::replace(&mut self.greater_is_target, true);
            let read = self.print_list(&mut list);
            self.greater_is_target = outer;
            read?;
        }
        // `print (a, b) > "file"`.
        if let [Expression::List(_)] = list.as_slice()
            && let Some(Expression::List(items)) = list.pop()
        {
            list = items;
        }
        if list.iter().any(|item| matches!(item, Expression::List(_))) || (formatted && list.is_empty()) {
            return None;
        }
        let append = self.is(">>");
        let target = if self.take(">") || self.take(">>") {
            let outer = std::mem::replace(&mut self.greater_is_target, true);
            let name = self.concatenation();
            self.greater_is_target = outer;
            if append { Target::Append(name?) } else { Target::File(name?) }
        } else {
            Target::Standard
        };
        Some(if formatted { Statement::Printf(list, target) } else { Statement::Print(list, target) })
    }

    fn print_list(&mut self, list: &mut Vec<Expression>) -> Option<()> {
        loop {
            list.push(self.expression()?);
            if !self.take(",") {
                return Some(());
            }
            self.newlines();
        }
    }

    /// Reads where `>` compares.
    fn plainly<R>(&mut self, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let outer = std::mem::replace(&mut self.greater_is_target, false);
        let result = read(self);
        self.greater_is_target = outer;
        result
    }

    /// Expressions up to a closing sign, which is taken.
    fn list(&mut self, close: &str) -> Option<Vec<Expression>> {
        let mut list = Vec::new();
        self.newlines();
        while !self.take(close) {
            if !list.is_empty() {
                self.expect(",")?;
                self.newlines();
            }
            list.push(self.expression()?);
            self.newlines();
        }
        Some(list)
    }

    fn expression(&mut self) -> Option<Expression> {
        self.nested(Self::ternary)
    }

    /// Conditions and, as they bind less, assignments.
    fn ternary(&mut self) -> Option<Expression> {
        let condition = self.or()?;
        if let Expression::Place(place) = &condition {
            let operator = match self.peek() {
                Token::Sign("=") => Some(None),
                Token::Sign("+=") => Some(Some(Binary::Add)),
                Token::Sign("-=") => Some(Some(Binary::Subtract)),
                Token::Sign("*=") => Some(Some(Binary::Multiply)),
                Token::Sign("/=") => Some(Some(Binary::Divide)),
                Token::Sign("%=") => Some(Some(Binary::Modulo)),
                Token::Sign("^=" | "**=") => Some(Some(Binary::Power)),
                _ => None,
            };
            if let Some(operator) = operator {
                self.at += 1;
                self.newlines();
                let value = self.nested(Self::ternary)?;
                return Some(Expression::Assign(place.clone(), operator, Box::new(value)));
            }
        }
        if !self.take("?") {
            return Some(condition);
        }
        self.newlines();
        let then = self.nested(Self::ternary)?;
        self.newlines();
        self.expect(":")?;
        self.newlines();
        let other = self.nested(Self::ternary)?;
        Some(Expression::Conditional(Box::new(condition), Box::new(then), Box::new(other)))
    }

    fn or(&mut self) -> Option<Expression> {
        let mut left = self.and()?;
        while self.take("||") {
            self.operator()?;
            self.newlines();
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expression> {
        let mut left = self.membership()?;
        while self.take("&&") {
            self.operator()?;
            self.newlines();
            left = Expression::And(Box::new(left), Box::new(self.membership()?));
        }
        Some(left)
    }

    fn membership(&mut self) -> Option<Expression> {
        let mut left = self.matching()?;
        while self.is_keyword(Keyword::In) {
            self.operator()?;
            ambiguous(&left)?;
            self.at += 1;
            let array = self.name()?;
            let index = match left {
                Expression::List(items) => items,
                other => vec![other],
            };
            left = Expression::In(index, array);
        }
        Some(left)
    }

    fn matching(&mut self) -> Option<Expression> {
        let mut left = self.comparison()?;
        while self.is("~") || self.is("!~") {
            self.operator()?;
            ambiguous(&left)?;
            let negated = self.is("!~");
            self.at += 1;
            let right = self.comparison()?;
            left = Expression::Match(Box::new(left), Box::new(right), negated);
        }
        Some(left)
    }

    fn comparison(&mut self) -> Option<Expression> {
        let left = self.concatenation()?;
        let Some(operator) = self.comparing() else { return Some(left) };
        ambiguous(&left)?;
        self.at += 1;
        let right = self.concatenation()?;
        // One behind another is an error in some awks.
        if self.comparing().is_some() {
            return None;
        }
        Some(Expression::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn comparing(&self) -> Option<Binary> {
        match self.peek() {
            Token::Sign("<") => Some(Binary::Less),
            Token::Sign("<=") => Some(Binary::LessEqual),
            Token::Sign("==") => Some(Binary::Equal),
            Token::Sign("!=") => Some(Binary::NotEqual),
            Token::Sign(">") if !self.greater_is_target => Some(Binary::Greater),
            Token::Sign(">=") => Some(Binary::GreaterEqual),
            _ => None,
        }
    }

    fn concatenation(&mut self) -> Option<Expression> {
        let mut left = self.additive()?;
        while self.begins_operand() {
            self.operator()?;
            let right = self.additive()?;
            left = Expression::Binary(Binary::Concatenate, Box::new(left), Box::new(right));
        }
        Some(left)
    }

    /// Whether what comes can only be an operand, so that it is joined to what was before.
    fn begins_operand(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Text(_) | Token::Name(_) | Token::Callee(_) | Token::Builtin(_) => true,
            Token::Pattern(_) => true,
            Token::Sign(sign) => matches!(*sign, "$" | "!" | "(" | "++" | "--"),
            _ => false,
        }
    }

    fn additive(&mut self) -> Option<Expression> {
        let mut left = self.multiplicative()?;
        loop {
            let operator = match self.peek() {
                Token::Sign("+") => Binary::Add,
                Token::Sign("-") => Binary::Subtract,
                _ => return Some(left),
            };
            self.at += 1;
            self.operator()?;
            let right = self.multiplicative()?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn multiplicative(&mut self) -> Option<Expression> {
        let mut left = self.unary()?;
        loop {
            let operator = match self.peek() {
                Token::Sign("*") => Binary::Multiply,
                Token::Sign("/") => Binary::Divide,
                Token::Sign("%") => Binary::Modulo,
                _ => return Some(left),
            };
            self.at += 1;
            self.operator()?;
            let right = self.unary()?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Option<Expression> {
        self.nested(|parser| {
            if parser.take("!") {
                return Some(Expression::Not(Box::new(parser.unary()?)));
            }
            if parser.take("-") {
                return Some(Expression::Negate(Box::new(parser.unary()?)));
            }
            if parser.take("+") {
                return Some(Expression::Plus(Box::new(parser.unary()?)));
            }
            parser.power()
        })
    }

    fn power(&mut self) -> Option<Expression> {
        let base = self.postfix()?;
        if !(self.take("^") || self.take("**")) {
            return Some(base);
        }
        // Binds to the right, and its exponent may have a sign.
        let exponent = self.nested(|parser| {
            if parser.take("-") {
                return Some(Expression::Negate(Box::new(parser.power()?)));
            }
            if parser.take("+") {
                return Some(Expression::Plus(Box::new(parser.power()?)));
            }
            if parser.is("!") { None } else { parser.power() }
        })?;
        Some(Expression::Binary(Binary::Power, Box::new(base), Box::new(exponent)))
    }

    fn postfix(&mut self) -> Option<Expression> {
        let operand = self.primary()?;
        if let Expression::Place(place) = &operand {
            for (sign, step) in [("++", 1.0), ("--", -1.0)] {
                if self.take(sign) {
                    return Some(Expression::Step(place.clone(), step, true));
                }
            }
        }
        Some(operand)
    }

    fn place(&mut self) -> Option<Place> {
        match self.nested(Self::primary)? {
            Expression::Place(place) => Some(place),
            _ => None,
        }
    }

    fn primary(&mut self) -> Option<Expression> {
        let token = self.peek().clone();
        self.at += 1;
        match token {
            Token::Number(number) => Some(Expression::Number(number)),
            Token::Text(text) => Some(Expression::Text(text)),
            Token::Pattern(text) => Some(Expression::Pattern(text)),
            Token::Name(name) => {
                if !self.take("[") {
                    return Some(Expression::Place(Place::Variable(name)));
                }
                let index = self.plainly(|parser| parser.list("]"))?;
                (!index.is_empty()).then_some(Expression::Place(Place::Element(name, index)))
            }
            Token::Callee(name) => {
                self.expect("(")?;
                Some(Expression::Call(name, self.plainly(|parser| parser.list(")"))?))
            }
            Token::Builtin(builtin) => {
                if self.take("(") {
                    return Some(Expression::Builtin(builtin, self.plainly(|parser| parser.list(")"))?));
                }
                (builtin == Builtin::Length).then_some(Expression::Builtin(builtin, Vec::new()))
            }
            Token::Keyword(Keyword::Getline) => self.getline(),
            Token::Sign("$") => {
                let field = self.nested(|parser| {
                    for (sign, step) in [("++", 1.0), ("--", -1.0)] {
                        if parser.take(sign) {
                            return Some(Expression::Step(parser.place()?, step, false));
                        }
                    }
                    if parser.take("-") {
                        return Some(Expression::Negate(Box::new(parser.primary()?)));
                    }
                    parser.primary()
                })?;
                Some(Expression::Place(Place::Field(Box::new(field))))
            }
            Token::Sign("++") => Some(Expression::Step(self.place()?, 1.0, false)),
            Token::Sign("--") => Some(Expression::Step(self.place()?, -1.0, false)),
            Token::Sign("(") => {
                let mut items = self.plainly(|parser| parser.list(")"))?;
                match items.len() {
                    0 => None,
                    1 => Some(Expression::Group(Box::new(items.pop()?))),
                    _ => Some(Expression::List(items)),
                }
            }
            _ => None,
        }
    }

    /// `getline`, `getline place`, `getline < file`, `getline place < file`.
    fn getline(&mut self) -> Option<Expression> {
        let place = match self.peek() {
            Token::Name(_) | Token::Sign("$") => Some(self.place()?),
            _ => None,
        };
        if !self.take("<") {
            return Some(Expression::Getline(place, Source::Main));
        }
        let file = self.primary()?;
        // Whether what follows belongs to the name is read in different ways.
        if self.begins_operand() {
            return None;
        }
        Some(Expression::Getline(place, Source::File(Box::new(file))))
    }
}

/// Awks do not agree on what `!` in front of a comparison or a match takes.
fn ambiguous(left: &Expression) -> Option<()> {
    (!matches!(left, Expression::Not(_))).then_some(())
}

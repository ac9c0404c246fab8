//! From text to a postfix program, by precedence climbing.
//!
//! Invariant: the parser recurses only for parentheses, unary operators, `**`, `?:` and assignments, and
//! never deeper than [`NESTING_MAX`]; chains of any length of the left-associative operators do not
//! recurse. Names are interned by the caller's function so that programs can be kept.

use super::lexer::{Lexer, Span, Token, count_placeholders};
use super::{ArithmeticError, Binary, NESTING_MAX, Operation, Place, Program, Step, Subscript};
use crate::sys::stack;

/// Parses `text`. An empty or blank text is the program for 0.
pub fn parse<N: Clone>(
    text: &[u8],
    intern: &mut dyn FnMut(&[u8]) -> N,
) -> Result<Program<N>, ArithmeticError> {
    let (program, error) = parse_as_far_as_possible(text, intern);
    error.map_or(Ok(program), Err)
}

/// Parses `text` up to an error. bash evaluates while it reads, so what stands before the error is to be run before it is
/// reported. Where that is not known (before the end of a condition) the program is empty.
pub(super) fn parse_as_far_as_possible<N: Clone>(
    text: &[u8],
    intern: &mut dyn FnMut(&[u8]) -> N,
) -> (Program<N>, Option<ArithmeticError>) {
    let mut parser = Parser { lexer: Lexer::new(text, 0), operations: Vec::new(), nesting: 0, intern };
    let error = parser.whole().err();
    let jumps = |operation: &Operation<N>| {
        matches!(
            operation,
            Operation::AndJump(_) | Operation::OrJump(_) | Operation::JumpIfZero(_) | Operation::Jump(_)
        )
    };
    if error.is_some() && parser.operations.iter().any(jumps) {
        parser.operations.clear();
    }
    (Program { text: text.into(), operations: parser.operations.into_boxed_slice() }, error)
}

struct Parser<'t, 'i, N> {
    lexer: Lexer<'t>,
    operations: Vec<Operation<N>>,
    nesting: usize,
    intern: &'i mut dyn FnMut(&[u8]) -> N,
}

/// How tightly a binary operator binds; larger is tighter.
fn precedence(token: Token) -> Option<u8> {
    Some(match token {
        Token::LogicalOr => 1,
        Token::LogicalAnd => 2,
        Token::Binary(operator) => match operator {
            Binary::Or => 3,
            Binary::Xor => 4,
            Binary::And => 5,
            Binary::Equal | Binary::NotEqual => 6,
            Binary::Less | Binary::Greater | Binary::LessEqual | Binary::GreaterEqual => 7,
            Binary::ShiftLeft | Binary::ShiftRight => 8,
            Binary::Add | Binary::Subtract => 9,
            Binary::Multiply | Binary::Divide | Binary::Remainder => 10,
            Binary::Power => 11,
        },
        _ => return None,
    })
}

impl<N: Clone> Parser<'_, '_, N> {
    /// Reads what stands one level deeper.
    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), ArithmeticError>,
    ) -> Result<(), ArithmeticError> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX || stack::is_exhausted() {
            return Err(self.lexer.error("expression recursion level exceeded"));
        }
        let result = stack::with_room(|| read(self));
        self.nesting -= 1;
        result
    }

    fn whole(&mut self) -> Result<(), ArithmeticError> {
        self.lexer.advance()?;
        if self.lexer.current == Token::End {
            return Ok(());
        }
        self.comma()?;
        if self.lexer.current == Token::End {
            return Ok(());
        }
        let error = self.lexer.error("syntax error in expression");
        if let Token::Name(name, subscript) = self.lexer.current {
            // bash looks one token ahead behind each name before it evaluates it: of several names in a row
            // the last one finds the error.
            while matches!(self.lexer.current, Token::Name(..)) {
                if let Err(error) = self.lexer.advance() {
                    if matches!(self.operations.last(), Some(Operation::Load(_))) {
                        self.operations.pop();
                    }
                    return Err(error);
                }
            }
            let place = self.place(name, subscript);
            self.operations.push(Operation::Load(place));
        }
        Err(error)
    }

    fn position(&self) -> u32 {
        u32::try_from(self.operations.len()).unwrap_or(u32::MAX)
    }

    fn offset(&self) -> u32 {
        u32::try_from(self.lexer.token_start).unwrap_or(u32::MAX)
    }

    fn comma(&mut self) -> Result<(), ArithmeticError> {
        self.assignment()?;
        while self.lexer.current == Token::Comma {
            self.operations.push(Operation::Pop);
            self.lexer.advance()?;
            self.assignment()?;
        }
        Ok(())
    }

    fn assignment(&mut self) -> Result<(), ArithmeticError> {
        let start = self.operations.len();
        self.conditional()?;
        let with = match self.lexer.current {
            Token::Assign => None,
            Token::AssignWith(operator) => Some(operator),
            _ => return Ok(()),
        };
        let is_place = self.operations.len() == start + 1 && matches!(self.lexer.previous, Token::Name(..));
        let place = match self.operations.pop() {
            Some(Operation::Load(place)) if is_place => place,
            _ => return Err(self.lexer.error("attempted assignment to non-variable")),
        };
        self.lexer.advance()?;
        let value_at = self.offset();
        // A variable is read before the right side, which may change it; an element only once its subscript is known.
        let read_first = with.is_some() && matches!(place, Place::Scalar(_));
        if read_first {
            self.operations.push(Operation::Load(place.clone()));
        }
        self.deeper(Self::assignment)?;
        match with {
            None => self.operations.push(Operation::Store(place)),
            Some(operator) if read_first => {
                self.operations.push(Operation::Binary(operator, value_at));
                self.operations.push(Operation::Store(place));
            }
            Some(operator) => self.operations.push(Operation::Update(place, operator, value_at)),
        }
        Ok(())
    }

    fn conditional(&mut self) -> Result<(), ArithmeticError> {
        self.binary(1)?;
        if self.lexer.current != Token::Question {
            return Ok(());
        }
        let test = self.operations.len();
        self.operations.push(Operation::JumpIfZero(0));
        self.lexer.advance()?;
        if matches!(self.lexer.current, Token::End | Token::Colon) {
            return Err(self.lexer.error("expression expected"));
        }
        self.deeper(Self::comma)?;
        if self.lexer.current != Token::Colon {
            return Err(self.lexer.error("`:' expected for conditional expression"));
        }
        let jump = self.operations.len();
        self.operations.push(Operation::Jump(0));
        self.patch(test);
        self.lexer.advance()?;
        if self.lexer.current == Token::End {
            return Err(self.lexer.error("expression expected"));
        }
        self.deeper(Self::conditional)?;
        self.patch(jump);
        // `a ? b : c = d` must not assign to c.
        self.lexer.previous = Token::Colon;
        Ok(())
    }

    /// Points the jump at `index` to the next operation.
    fn patch(&mut self, index: usize) {
        let target = self.position();
        if let Some(
            Operation::Jump(to) | Operation::JumpIfZero(to) | Operation::AndJump(to) | Operation::OrJump(to),
        ) = self.operations.get_mut(index)
        {
            *to = target;
        }
    }

    fn binary(&mut self, minimum: u8) -> Result<(), ArithmeticError> {
        self.unary()?;
        while let Some(level) = precedence(self.lexer.current) {
            if level < minimum {
                break;
            }
            let operator = self.lexer.current;
            self.lexer.advance()?;
            let right_at = self.offset();
            match operator {
                Token::LogicalAnd => self.short_circuit(Operation::AndJump(0), level)?,
                Token::LogicalOr => self.short_circuit(Operation::OrJump(0), level)?,
                Token::Binary(Binary::Power) => {
                    self.deeper(|parser| parser.binary(level))?;
                    let error_at = self.offset();
                    self.operations.push(Operation::Binary(Binary::Power, error_at));
                }
                Token::Binary(operator) => {
                    self.binary(level + 1)?;
                    self.operations.push(Operation::Binary(operator, right_at));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn short_circuit(&mut self, jump: Operation<N>, level: u8) -> Result<(), ArithmeticError> {
        let at = self.operations.len();
        self.operations.push(jump);
        self.binary(level + 1)?;
        self.operations.push(Operation::Truth);
        self.patch(at);
        Ok(())
    }

    fn unary(&mut self) -> Result<(), ArithmeticError> {
        let operation = match self.lexer.current {
            Token::LogicalNot => Some(Operation::LogicalNot),
            Token::BitwiseNot => Some(Operation::BitwiseNot),
            Token::Binary(Binary::Subtract) => Some(Operation::Negate),
            Token::Binary(Binary::Add) => None,
            _ => return self.primary(),
        };
        self.lexer.advance()?;
        let start = self.operations.len();
        self.deeper(Self::unary)?;
        // A constant that is the whole operand; that of `-(a ? b : 1)` is not.
        let constant = match self.operations.get_mut(start..) {
            Some([Operation::Constant(n)]) => Some(n),
            _ => None,
        };
        match (operation, constant) {
            (Some(Operation::Negate), Some(n)) => *n = n.wrapping_neg(),
            (Some(operation), _) => self.operations.push(operation),
            (None, _) => {}
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), ArithmeticError> {
        match self.lexer.current {
            Token::Number(n) => {
                self.operations.push(Operation::Constant(n));
                self.lexer.advance()
            }
            Token::Placeholder(index) => {
                self.operations.push(Operation::Placeholder(index));
                self.lexer.advance()
            }
            Token::PreStep(delta) => self.prefix_step(delta),
            Token::Name(name, subscript) => self.name(name, subscript),
            Token::LeftParen => self.parenthesised(),
            _ => Err(self.lexer.error("syntax error: operand expected")),
        }
    }

    fn parenthesised(&mut self) -> Result<(), ArithmeticError> {
        self.lexer.advance()?;
        self.deeper(Self::comma)?;
        if self.lexer.current != Token::RightParen {
            return Err(self.lexer.error("missing `)'"));
        }
        self.lexer.advance()
    }

    fn prefix_step(&mut self, delta: i64) -> Result<(), ArithmeticError> {
        self.lexer.advance()?;
        let Token::Name(name, subscript) = self.lexer.current else {
            return Err(self.lexer.error("identifier expected after pre-increment or pre-decrement"));
        };
        let place = self.place(name, subscript);
        self.operations.push(Operation::Step(place, Step { delta, yields_old: false }));
        self.lexer.advance()?;
        match self.lexer.current {
            Token::PostStep(delta) => Err(self.lexer.lvalue_required(delta)),
            _ => Ok(()),
        }
    }

    fn name(&mut self, name: Span, subscript: Option<Span>) -> Result<(), ArithmeticError> {
        let place = self.place(name, subscript);
        self.lexer.advance()?;
        if let Token::PostStep(delta) = self.lexer.current {
            self.operations.push(Operation::Step(place, Step { delta, yields_old: true }));
            // The result is a number: a second `++` or an `=` after it has no place to store to.
            self.lexer.current = Token::Number(0);
            return self.lexer.advance();
        }
        self.operations.push(Operation::Load(place));
        Ok(())
    }

    fn place(&mut self, name: Span, subscript: Option<Span>) -> Place<N> {
        let interned = (self.intern)(self.lexer.slice(name));
        let Some(span) = subscript else { return Place::Scalar(interned) };
        let text = self.lexer.slice(span);
        let blank = text.iter().all(u8::is_ascii_whitespace);
        let nested = self.nesting + 1 < NESTING_MAX;
        // The lexer stands just behind the subscript.
        let first_placeholder = self.lexer.placeholders().saturating_sub(count_placeholders(text));
        let program = if blank || !nested { None } else { self.subscript_program(text, first_placeholder) };
        Place::Element(interned, Box::new(Subscript { text: text.into(), first_placeholder, program }))
    }

    fn subscript_program(&mut self, text: &[u8], first_placeholder: u16) -> Option<Program<N>> {
        let lexer = Lexer::new(text, first_placeholder);
        let mut parser =
            Parser { lexer, operations: Vec::new(), nesting: self.nesting + 1, intern: &mut *self.intern };
        parser.lexer.advance().ok()?;
        stack::with_room(|| parser.comma()).ok()?;
        (parser.lexer.current == Token::End)
            .then(|| Program { text: text.into(), operations: parser.operations.into_boxed_slice() })
    }
}

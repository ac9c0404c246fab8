//! Values and messages, each checked against bash 5.2.

use std::collections::HashMap;

use super::{Failure, Value, Variables, evaluate, parse, run};

#[derive(Default)]
struct Table {
    text: HashMap<String, Vec<u8>>,
    elements: HashMap<(String, Vec<u8>), i64>,
}

impl Variables for Table {
    type Name = String;
    type Error = ();

    fn intern(&mut self, name: &[u8]) -> String {
        String::from_utf8_lossy(name).into_owned()
    }
    fn get(&mut self, name: &String) -> Result<Value<'_>, ()> {
        Ok(self.text.get(name).map_or(Value::Unset, |t| Value::Text(t)))
    }
    fn set(&mut self, name: &String, value: i64) -> Result<(), ()> {
        self.text.insert(name.clone(), value.to_string().into_bytes());
        Ok(())
    }
    fn is_associative(&mut self, name: &String) -> bool {
        name == "map"
    }
    fn expand_subscript(&mut self, text: &[u8]) -> Result<Vec<u8>, ()> {
        Ok(text.to_vec())
    }
    fn get_index(&mut self, name: &String, index: i64) -> Result<Value<'_>, ()> {
        self.get_key(name, index.to_string().as_bytes())
    }
    fn set_index(&mut self, name: &String, index: i64, value: i64) -> Result<(), ()> {
        self.set_key(name, index.to_string().as_bytes(), value)
    }
    fn get_key(&mut self, name: &String, key: &[u8]) -> Result<Value<'_>, ()> {
        let value = self.elements.get(&(name.clone(), key.to_vec()));
        Ok(value.map_or(Value::Unset, |&n| Value::Integer(n)))
    }
    fn set_key(&mut self, name: &String, key: &[u8], value: i64) -> Result<(), ()> {
        self.elements.insert((name.clone(), key.to_vec()), value);
        Ok(())
    }
}

fn check(expression: &str, expect: &str) {
    let mut table = Table::default();
    for (name, value) in [("n", "5"), ("e", "1+2"), ("z", ""), ("loop", "loop"), ("bad", "1 +")] {
        table.text.insert(name.into(), value.into());
    }
    let got = match evaluate(expression.as_bytes(), &mut table) {
        Ok(n) => n.to_string(),
        Err(Failure::Expression(error)) => error.to_string(),
        Err(Failure::Variable(()) | Failure::Subscript(())) => "variable".into(),
    };
    assert_eq!(got, expect, "{expression}");
}

#[test]
fn values() {
    for (expression, expect) in [
        ("", "0"),
        ("  ", "0"),
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("-2**2", "4"),
        ("2**3**2", "512"),
        ("7/-2", "-3"),
        ("-7%3", "-1"),
        ("1<<65", "2"),
        ("-1>>1", "-1"),
        ("5&3|8^1", "9"),
        ("!5", "0"),
        ("~0", "-1"),
        ("1&&0||1", "1"),
        ("0&&(x=5),x", "0"),
        ("1||(x=5),x", "0"),
        ("1?2:3?4:5", "2"),
        ("0?2:0?4:5", "5"),
        ("n", "5"),
        ("e*2", "6"),
        ("z", "0"),
        ("n++ + n", "11"),
        ("++n + n", "12"),
        ("n--,n", "4"),
        ("x=y=3,x+y", "6"),
        ("n+=2*3", "11"),
        ("n<<=1", "10"),
        ("- -n", "5"),
        ("--n", "4"),
        ("1- -1", "2"),
        ("++5", "5"),
        ("0x1F+010+2#101+36#Z+64#_", "142"),
        ("16#fF", "255"),
        ("99999999999999999999", "7766279631452241919"),
        ("9223372036854775807+1", "-9223372036854775808"),
        ("-9223372036854775808/-1", "-9223372036854775808"),
        ("a[1]=4,a[n-4]+a[0]", "4"),
        ("a[x++]=7,x", "1"),
        ("map[some key]=3,map[some key]+1", "4"),
        ("a[a[0]=2]=9,a[2]", "9"),
        ("1 ? n=3 : 0, n", "3"),
    ] {
        check(expression, expect);
    }
}

#[test]
fn messages() {
    for (expression, expect) in [
        ("1 +", "1 +: syntax error: operand expected (error token is \"+\")"),
        ("bad", "1 +: syntax error: operand expected (error token is \"+\")"),
        ("1+x=5", "1+x=5: attempted assignment to non-variable (error token is \"=5\")"),
        ("08", "08: value too great for base (error token is \"08\")"),
        ("1#2", "1#2: invalid arithmetic base (error token is \"1#2\")"),
        ("65#1", "65#1: invalid arithmetic base (error token is \"65#1\")"),
        ("1/0 + 5", "1/0 + 5: division by 0 (error token is \"0 + 5\")"),
        ("2**-1", "2**-1: exponent less than 0 (error token is \"1\")"),
        ("1 @", "1 @: syntax error: invalid arithmetic operator (error token is \"@\")"),
        ("1?2", "1?2: `:' expected for conditional expression (error token is \"2\")"),
        ("1?", "1?: expression expected (error token is \"?\")"),
        ("3++", "3++: syntax error: operand expected (error token is \"+\")"),
        ("--x++", "--x++: ++: assignment requires lvalue (error token is \"++\")"),
        ("1 2", "1 2: syntax error in expression (error token is \"2\")"),
        ("5=3", "5=3: attempted assignment to non-variable (error token is \"=3\")"),
        ("16#", "16#: invalid integer constant (error token is \"16#\")"),
        ("2#1#1", "2#1#1: invalid number (error token is \"2#1#1\")"),
        ("a[", "a[: bad array subscript (error token is \"a[\")"),
        ("1.5", "1.5: syntax error: invalid arithmetic operator (error token is \".5\")"),
        ("1,,", "1,,: syntax error: operand expected (error token is \",\")"),
        ("loop", "loop: expression recursion level exceeded (error token is \"loop\")"),
        ("(1", "(1: missing `)' (error token is \"1\")"),
    ] {
        check(expression, expect);
    }
}

#[test]
fn long_and_deep_expressions_do_not_overflow_the_native_stack() {
    check(&vec!["1"; 200_000].join("+"), "200000");
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let mut table = Table::default();
    assert!(matches!(evaluate(deep.as_bytes(), &mut table), Err(Failure::Expression(_))));
    assert!(evaluate("!".repeat(100_000).as_bytes(), &mut table).is_err());
}

#[test]
fn placeholders_stand_for_supplied_integers() {
    let mut table = Table::default();
    let program =
        parse(b"\0 + n * \0 + a[\0] + \0", &mut |n| String::from_utf8_lossy(n).into_owned()).unwrap();
    table.text.insert("n".into(), b"10".to_vec());
    table.set_index(&"a".into(), 3, 1000).unwrap();
    assert_eq!(run(&program, &[1, 2, 3, 4], &mut table).unwrap(), 1025);
    let parse_error = |t: &[u8]| parse(t, &mut |n| n.to_vec()).is_err();
    assert!(parse_error(b"x\0") && !parse_error(b"\0" as &[u8]) && parse_error(b"1\0"));
    let keyed = parse(b"map[k\0]", &mut |n| String::from_utf8_lossy(n).into_owned()).unwrap();
    table.set_key(&"map".into(), b"k7", 70).unwrap();
    assert_eq!(run(&keyed, &[7], &mut table).unwrap(), 70);
}

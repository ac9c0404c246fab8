//! Output, messages and statuses, each taken from bash 5.2.

use super::{Host, printf};

#[derive(Default)]
struct Recorder {
    messages: String,
}

impl Host for Recorder {
    fn error(&mut self, _written: &mut Vec<u8>, message: &[u8]) {
        self.messages += &format!("[{}]", String::from_utf8_lossy(message));
    }
    fn now(&mut self) -> i64 {
        1_000
    }
    fn is_utf8(&mut self) -> bool {
        true
    }

    fn started(&mut self) -> i64 {
        900
    }
    fn format_time(&mut self, format: &[u8], seconds: i64) -> Vec<u8> {
        format!("<{} {seconds}>", String::from_utf8_lossy(format)).into_bytes()
    }
    fn assign(&mut self, name: &[u8], count: i64) {
        self.messages += &format!("{}={count}", String::from_utf8_lossy(name));
    }
}

fn run(arguments: &[&str]) -> String {
    let mut host = Recorder::default();
    let mut out = Vec::new();
    let (format, rest) = arguments.split_first().unwrap();
    let status = printf(format.as_bytes(), rest, &mut out, &mut host);
    format!("{}{}|{status}", host.messages, String::from_utf8_lossy(&out))
}

fn check(cases: &[(&[&str], &str)]) {
    for (arguments, expect) in cases {
        assert_eq!(run(arguments), *expect, "printf {arguments:?}");
    }
}

#[test]
fn integers() {
    check(&[
        (&["%d", ""], "0|0"),
        (&["%d", "abc"], "[abc: invalid number]0|1"),
        (&["%d", "12abc"], "[12abc: invalid number]12|1"),
        (
            &["%d", "99999999999999999999"],
            "[warning: 99999999999999999999: Numerical result out of range]9223372036854775807|0",
        ),
        (&["%u", "-1"], "18446744073709551615|0"),
        (&["%d", "'a"], "97|0"),
        (&["%d", "'é"], "233|0"),
        (&["%d", "\""], "0|0"),
        (&["%d", " 12"], "12|0"),
        (&["%d", "12 "], "[12 : invalid number]12|1"),
        (&["%i", "010"], "8|0"),
        (&["%d", "0x1F"], "31|0"),
        (&["%d", "08"], "[08: invalid octal number]0|1"),
        (&["%+d % d", "5", "5"], "+5  5|0"),
        (&["%05d", "-5"], "-0005|0"),
        (&["%-5d|", "5"], "5    ||0"),
        (&["%x %X %#x %o %#o", "255", "255", "255", "8", "8"], "ff FF 0xff 10 010|0"),
        (&["%5.3d|", "7"], "  007||0"),
        (&["%.d|", "0"], "||0"),
        (&["%#.3o", "1"], "001|0"),
        (&["%-05d|", "3"], "3    ||0"),
        (&["%*d", "5", "3"], "    3|0"),
        (&["%*d|", "-5", "3"], "3    ||0"),
        (&["%d", "1", "2", "3"], "123|0"),
        (&["%ld %lld %hd %jd %zd", "1", "2", "3", "4", "5"], "1 2 3 4 5|0"),
    ]);
}

#[test]
fn floats() {
    check(&[
        (&["%.1f", "0.25"], "0.2|0"),
        (&["%.2f", "1.005"], "1.00|0"),
        (&["%.20f", "0.1"], "0.10000000000000000000|0"),
        (&["%a", "1"], "0x8p-3|0"),
        (&["%a", "0.1"], "0xc.ccccccccccccccdp-7|0"),
        (&["%A", "10.5"], "0XA.8P+0|0"),
        (&["%g", "100000"], "100000|0"),
        (&["%g", "1000000"], "1e+06|0"),
        (&["%g", "0.0001"], "0.0001|0"),
        (&["%g", "0.00001"], "1e-05|0"),
        (&["%G", "1e-10"], "1E-10|0"),
        (&["%e", "0"], "0.000000e+00|0"),
        (&["%#g", "1"], "1.00000|0"),
        (&["%f", "inf"], "inf|0"),
        (&["%F", "-inf"], "-INF|0"),
        (&["%f", "1e5000"], "[warning: 1e5000: Numerical result out of range]inf|0"),
        (&["%.0f", "0.5"], "0|0"),
        (&["%.0f", "1.5"], "2|0"),
        (&["%f", "abc"], "[abc: invalid number]0.000000|1"),
        (&["%f", "0x10"], "16.000000|0"),
        (&["%f", "1.5x"], "[1.5x: invalid number]1.500000|1"),
        (&["%.*f", "2", "3.14159"], "3.14|0"),
        (&["%e", "12345.678"], "1.234568e+04|0"),
        (&["%.3e", "0.00012345"], "1.234e-04|0"),
        (&["%g", "123456789"], "1.23457e+08|0"),
        (&["%.10g", "123456789"], "123456789|0"),
        (&["%010.2f", "-3.14159"], "-000003.14|0"),
        (&["%.f", "2.5"], "2|0"),
        (&["%f", "-.5e1"], "-5.000000|0"),
        (&["%f", "5."], "5.000000|0"),
        (&["%f", "'a"], "97.000000|0"),
        (&["%.0f", "9.5"], "10|0"),
        (&["%.1f", "9.96"], "10.0|0"),
        (&["%.0f", "1e20"], "100000000000000000000|0"),
    ]);
}

#[test]
fn strings() {
    check(&[
        (&["%s %s\n", "a", "b", "c"], "a b\nc \n|0"),
        (&["%5s|", "é"], "   é||0"),
        (&["%q", "a b"], "a\\ b|0"),
        (&["%q", ""], "''|0"),
        (&["%.3q", "a b c"], "a\\ |0"),
        (&["%.3Q", "a b c"], "a\\ b|0"),
        (&["%c", "abc"], "a|0"),
        (&["%c", ""], "\0|0"),
        (&["%b", "\\101\\0101\\x41\\u41\\q\\\"\\'"], "AAAA\\q\\\"\\'|0"),
        (&["\\101\\0101\\x41\\u41\\q\\\"\\'\\?"], "A\x081AA\\q\"'?|0"),
        (&["%bx%s", "a\\c", "y"], "a|0"),
        (&["x\\cy"], "x\\cy|0"),
        (&["%s"], "|0"),
        (&["%.3s|", "abcdef"], "abc||0"),
        (&["%%"], "%|0"),
        (&["%z"], "[`%z': missing format character]|1"),
        (&["%y"], "[`y': invalid format character]|1"),
        (&["%"], "[`%': missing format character]|1"),
        (&["a%5%"], "[`%': invalid format character]a|1"),
        (&["\\x"], "[missing hex digit for \\x]\\x|0"),
        (&["ab%n", "v"], "v=2ab|0"),
        (&["no directives", "a", "b"], "no directives|0"),
        (&["%(%Y)T", "5"], "<%Y 5>|0"),
        (&["%(%Y)T"], "<%Y 1000>|0"),
        (&["%20()T|", "-2"], "            <%X 900>||0"),
    ]);
}

//! `awk`: programs from their grammar, of what awks agree on.

use super::{Grammar, names, text, valued};
use crate::random::Random;

/// The grammar.
pub(super) const AWK: Grammar = Grammar {
    name: "awk",
    options: &[valued(b'F', "", separator), valued(b'v', "", variable)],
    operands,
    input: text,
    mixed: false,
    changes: false,
};

fn separator(random: &mut Random) -> Vec<u8> {
    random.word(&[",", ":", " ", "\t", "|", "a", "[,:]", "[0-9]+", "a+", ".", "\\|", "x*y", "(a|b)", "ab"])
}

fn variable(random: &mut Random) -> Vec<u8> {
    random.word(&["x=3", "y=abc", "OFS=-", "x=", "z=a\\tb", "OFS=", "y=10", "ORS=|", "SUBSEP=:"])
}

fn operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = vec![program(random)];
    out.extend(names(random));
    out
}

fn program(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    if random.chance(20) {
        out.extend(b"BEGIN{");
        statements(random, 2, false, &mut out);
        out.extend(b"}");
    }
    for _ in 0..random.below(3) + 1 {
        match random.below(6) {
            0 | 1 => {}
            2 => {
                out.extend(regex(random));
            }
            3 => {
                expression(random, 2, &mut out);
            }
            4 => {
                out.extend(random.word(&["NR", "FNR", "NF"]));
                out.extend(random.word(&["==2", ">1", "%2", "<=3", "!=1", "%3==1"]));
            }
            _ => {
                out.extend(regex(random));
                out.extend(b",");
                out.extend(regex(random));
            }
        }
        out.extend(b"{");
        statements(random, 3, true, &mut out);
        out.extend(random.word(&["}", "}\n", " } ", "};"]));
    }
    if random.chance(40) {
        out.extend(b"END{");
        statements(random, 2, false, &mut out);
        // Arrays by their numbers: the order of `for (key in array)` is nobody's.
        out.extend(random.word(&[
            "}",
            ";for(i=1;i<4;i++)print i,a[i]}",
            ";print n,s,NR}",
            ";print length(a)}",
        ]));
    }
    out
}

fn statements(random: &mut Random, depth: usize, records: bool, out: &mut Vec<u8>) {
    for index in 0..random.below(3) + 1 {
        if index > 0 {
            out.extend(random.word(&[";", "\n", "; "]));
        }
        statement(random, depth, records, out);
    }
}

fn statement(random: &mut Random, depth: usize, records: bool, out: &mut Vec<u8>) {
    match random.below(if depth < 2 { 12 } else { 17 }) {
        0 | 1 => out.extend(b"print"),
        2 | 3 => {
            out.extend(b"print ");
            list(random, depth, out);
        }
        4 => {
            out.extend(b"printf ");
            out.extend(random.word(&[
                "\"%s|%5s|%-5s\\n\",",
                "\"%d %i %x\\n\",",
                "\"%5.2f %e %g\\n\",",
                "\"%05d %+d %.1s\\n\",",
                "\"%s %s %s%%\\n\",",
            ]));
            for index in 0..3 {
                if index > 0 {
                    out.push(b',');
                }
                out.extend(random.word(&["$1", "NR", "n", "3", "\"q\"", "NF", "x", "1.5"]));
            }
        }
        5 => {
            place(random, out);
            out.extend(random.word(&["=", "=", "+=", "-=", "*="]));
            expression(random, depth, out);
        }
        6 => out.extend(random.word(&[
            "n++",
            "a[NR]=$0",
            "a[$1]++",
            "s=s $1",
            "n+=$2",
            "s=s\"-\"NF",
            "--n",
            "a[NR%3]=a[NR%3] NR",
        ])),
        7 => {
            out.extend(random.word(&["sub(", "gsub("]));
            out.extend(regex(random));
            out.extend(random.word(&[
                ",\"<&>\")",
                ",\"\")",
                ",\"X\",$1)",
                ",\"[&&]\",s)",
                ",\"\\\\&\")",
                ",\"z\",$2)",
            ]));
        }
        8 if records => {
            out.extend(random.word(&["next", "$2=\"\"", "NF=2", "$5=\"e\"", "$0=\"a b c\"", "$1=$1"]))
        }
        9 => {
            out.extend(b"n=split(");
            out.extend(random.word(&["$0", "$1", "s", "\"a:b:c\""]));
            out.extend(random.word(&[
                ",a)",
                ",a,\":\")",
                ",a,/[0-9]+/)",
                ",a,\" \")",
                ",a,\",\")",
                ",a,\"ab\")",
            ]));
        }
        10 => out.extend(random.word(&[
            "delete a[1]",
            "delete a",
            "getline",
            "getline y",
            "exit",
            "exit 3",
            "x=1;x++",
        ])),
        11 => {
            out.extend(b"if(");
            expression(random, depth.min(1), out);
            out.extend(b")print \"t\";else print \"f\"");
        }
        12 => {
            out.extend(b"if(");
            expression(random, depth.saturating_sub(1), out);
            out.extend(b"){");
            statements(random, depth.saturating_sub(1), records, out);
            out.extend(b"}");
        }
        13 => {
            out.extend(b"for(i=1;i<=");
            out.extend(random.word(&["NF", "3", "n%5"]));
            out.extend(random.word(&[
                ";i++)print $i",
                ";i++)t+=i",
                ";i++)s=s i",
                ";i++)if(i==2)break;else print i",
                ";i+=2)print i",
            ]));
        }
        14 => out.extend(random.word(&[
            "w=0;while(w<3)w++",
            "w=1;do w++;while(w<3);print w",
            "w=0;while(1){if(w++>3)break;if(w==2)continue;print w}",
        ])),
        15 => out.extend(random.word(&[
            "for(k in a)n++",
            "for(k in a)delete a[k]",
            "a[1,2]=3;if((1,2)in a)print \"in\"",
            "if(!(\"x\" in a))print \"no\"",
        ])),
        _ => {
            out.extend(b"{");
            statements(random, depth.saturating_sub(1), records, out);
            out.extend(b"}");
        }
    }
}

fn place(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.word(&["n", "s", "x", "$1", "$3", "a[1]", "a[NR]", "a[\"k\"]"]));
}

fn list(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    for index in 0..random.below(3) + 1 {
        if index > 0 {
            out.push(b',');
        }
        // `>` would name a file.
        out.push(b'(');
        expression(random, depth.min(2), out);
        out.push(b')');
    }
}

fn regex(random: &mut Random) -> Vec<u8> {
    random.word(&[
        "/a/",
        "/^a/",
        "/b$/",
        "/[0-9]+/",
        "/a.c/",
        "/(a|b)+/",
        "/x*/",
        "/[^a-z]/",
        "/^$/",
        "/\\./",
        "/a?b/",
        "/[[:alpha:]]+/",
        "/ /",
    ])
}

fn expression(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    if depth == 0 {
        out.extend(random.word(&[
            "$1", "$2", "$NF", "NR", "NF", "1", "2.5", "\"a\"", "\"10\"", "n", "s", "x", "a[1]", "0", "\"\"",
            "$0",
        ]));
        return;
    }
    let operand = |random: &mut Random, out: &mut Vec<u8>| {
        out.push(b'(');
        expression(random, depth.saturating_sub(1), out);
        out.push(b')');
    };
    match random.below(14) {
        0 | 1 => expression(random, 0, out),
        2 | 3 => {
            operand(random, out);
            out.extend(random.word(&["+", "-", "*", " ", "%7+", "/4-", "^2+"]));
            operand(random, out);
        }
        4 | 5 => {
            operand(random, out);
            out.extend(random.word(&["==", "!=", "<", "<=", ">=", ">"]));
            operand(random, out);
        }
        6 => {
            operand(random, out);
            out.extend(random.word(&["&&", "||"]));
            operand(random, out);
        }
        7 => {
            operand(random, out);
            out.extend(random.word(&["~", "!~"]));
            out.extend(regex(random));
        }
        8 => {
            out.extend(random.word(&["!", "-", "+"]));
            operand(random, out);
        }
        9 => {
            operand(random, out);
            out.push(b'?');
            operand(random, out);
            out.push(b':');
            operand(random, out);
        }
        10 => out.extend(random.word(&[
            "length(n)",
            "length(NR NF)",
            "index(\"abcb\",\"b\")",
            "int($2)",
            "int(-3.7)",
            "n++",
            "--n",
        ])),
        11 => {
            out.extend(b"substr(\"hello world\",");
            out.extend(random.word(&["2", "0", "-1", "3", "20", "NF", "NR"]));
            out.extend(random.word(&[")", ",2)", ",0)", ",-1)", ",100)", ",NR)"]));
        }
        12 => out.extend(random.word(&[
            "toupper(\"aBc\")",
            "tolower(\"ABc\")",
            "sprintf(\"%03d\",NR)",
            "(1 in a)",
            "(NR in a)",
        ])),
        _ => {
            out.extend(b"match(\"xaabbc10\",");
            out.extend(regex(random));
            out.extend(random.word(&[")", ") RSTART", ") RLENGTH"]));
        }
    }
}

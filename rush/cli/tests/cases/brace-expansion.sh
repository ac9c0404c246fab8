# Braces come before everything else, also in parts of a word.
echo a{b,c{d,e}}f {1..5} {5..1..2} {a..e} {01..10..3}
echo {a} {a,} {,} "{a,b}" \{a,b} x{1..3}y{a,b}
v=2; echo {1..$v} {$v,3}
#> abf acdf acef 1 2 3 4 5 5 3 1 a b c d e 01 04 07 10
#> {a} a {a,b} {a,b} x1ya x1yb x2ya x2yb x3ya x3yb
#> {1..2} 2 3
#? 0

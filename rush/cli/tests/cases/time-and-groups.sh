# Braces group in this shell, parentheses in another; both take redirections.
{ echo a; echo b; } >file; wc -l <file | tr -d ' '
( echo c; exit 3 ) >>file; echo $?; cat file
{ x=kept; }; echo $x; ( x=lost ); echo $x
if { true; }; then echo yes; fi
f() { echo "to err" >&2; } 2>&1; f | cat
#> 2
#> 3
#> a
#> b
#> c
#> kept
#> kept
#> yes
#> to err
#? 0

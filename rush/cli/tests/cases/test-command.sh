# test has one grammar for each number of arguments.
[ ]; echo $?
[ x ] && [ ! "" ] && [ -n x -a x = x ] && echo and
[ ! = x ]; echo $?
[ -f ] && echo text
[ 3 -gt 2 ] && [ abc \< abd ] && echo order
[ 1 -eq x ] 2>/dev/null; echo $?
mkdir d; : >f; [ -d d -a -f f -a ! -s f ] && echo files
[ -t 9 ] || echo no terminal
#> 1
#> and
#> 1
#> text
#> order
#> 2
#> files
#> no terminal
#? 0

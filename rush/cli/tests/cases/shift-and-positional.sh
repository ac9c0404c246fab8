# Parameters beyond nine need braces; shift fails when there are too few.
set -- a b c d e f g h i j k
echo $10 ${10} ${11} $#
shift 9; echo "$@"; shift 5; echo "$? $#"
set -- -x; echo $1; set --; echo $#
f() { echo "$# $0" | sed 's/ .*case/ case/'; }; f 1 2
set -- "a b" c; for x in "$@"; do echo "$x"; done; for x in $@; do echo "$x"; done
#> a0 j k 11
#> j k
#> 1 2
#> -x
#> 0
#> 2 case.sh
#> a b
#> c
#> a
#> b
#> c
#? 0

# `[[ ]]` splits no words; the right side of == is a pattern unless it is quoted.
x='a b' p='a*'
[[ $x == $p ]] && echo pattern
[[ $x == "$p" ]] || echo text
[[ -z $none && ( 1 -lt 2 || -e /nowhere ) ]] && echo grouped
[[ abc =~ ^(a)(b) ]] && echo "${BASH_REMATCH[0]} ${BASH_REMATCH[2]}"
[[ b > a && ! a -nt /nowhere ]] && echo order
[[ 2+3 -eq 5 ]] && echo arithmetic
[[ a =~ [ ]] 2>/dev/null; echo $?
#> pattern
#> text
#> grouped
#> ab b
#> order
#> arithmetic
#> 2
#? 0

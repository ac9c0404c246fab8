# declare -i evaluates, -u and -l change case, -r holds.
declare -i n=2+3; n+=4; echo $n
declare -u up=abc; declare -l low=ABC; echo $up $low
readonly r=1; (r=2) 2>/dev/null; echo "$? $r"
declare -p n r | sort
declare -x e=exported; sh -c 'echo $e'
declare +i n; n=1+1; echo $n
#> 9
#> ABC abc
#> 1 1
#> declare -i n="9"
#> declare -r r="1"
#> exported
#> 1+1
#? 0

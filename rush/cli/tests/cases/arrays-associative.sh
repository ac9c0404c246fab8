# Keys of associative arrays are any text; an array of them has no order that a script may rely on.
declare -A m=([a b]=1 ['$x']=2)
m[c]=3 m["a b"]+=0
for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
echo ${#m[@]}
unset 'm[a b]'; [[ -v m[c] && ! -v m["a b"] ]] && echo gone
#> $x=2
#> a b=10
#> c=3
#> 3
#> gone
#? 0

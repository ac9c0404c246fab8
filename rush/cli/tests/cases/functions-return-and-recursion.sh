# return ends the function and gives its status; a function may call itself.
f() { (( $1 <= 1 )) && { echo 1; return; }; echo $(( $1 * $(f $(( $1 - 1 ))) )); }
f 10
g() { for i in 1 2 3; do [ $i = 2 ] && return 5; done; }
g; echo "$? $i"
h() ( x=inside; exit 4 ); h; echo "$? ${x-unset}"
declare -f g | head -n 2
unset -f g; type g 2>/dev/null || echo gone
#> 3628800
#> 5 2
#> 4 unset
#> g () 
#> { 
#> gone
#? 0

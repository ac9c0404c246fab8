# local takes attributes and several names; local - keeps the options.
f() { local -i a=1+1 b=$1; local -a c=(x y); echo $a $b ${#c[@]}; }
f 7
g() { local -; set -f; echo *; }; : >file; g; echo *
local x 2>/dev/null; echo $?
h() { local v=1; i() { v=2; }; i; echo $v; }; h; echo "${v-unset}"
#> 2 7 2
#> *
#> file
#> 1
#> 2
#> unset
#? 0

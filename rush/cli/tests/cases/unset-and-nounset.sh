# set -u ends the shell at a variable that is not set, but for $@, $* and defaults.
set -u
echo "$@" "${x-default}" ${#}
a=(); echo "${a[@]}" ${#a[@]}
(echo $x) 2>/dev/null; echo $?
x=; echo "[$x]"
unset x; echo never $x
#> default 0
#> 0
#> 1
#> []
#> ../case.sh: line 7: x: unbound variable
#? 1

# set -e spares conditions, and what stands in them.
set -e
false || echo spared
if false; then :; fi
! true
f() { false; echo "f goes on"; }
f && echo condition
(set +e; false; echo subshell)
x=$(false; echo not reached) || echo "status $?"
echo before
false
echo never
#> spared
#> f goes on
#> condition
#> subshell
#> before
#? 1

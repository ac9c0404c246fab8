# A status is eight bits; a signal is 128 and its number; not found is 127, not executable 126.
(exit 256); echo $?
(exit -1); echo $?
sh -c 'kill -TERM $$'; echo $?
nowhere 2>/dev/null; echo $?
: >plain; ./plain 2>/dev/null; echo $?
true | false | true; echo $? "${PIPESTATUS[@]}"
set -o pipefail; true | (exit 3) | true; echo $?
#> 0
#> 255
#> Terminated
#> 143
#> 127
#> 126
#> 0 0 1 0
#> 3
#? 0

# wait gives the status of what it waited for; $! names the last job.
(exit 3) & wait $!; echo $?
{ sleep 0.1; exit 4; } & p=$!; wait $p; echo $?
(exit 5) & (exit 0) & wait; echo $?
wait 999999 2>/dev/null; echo $?
sleep 5 & kill $!; wait $! 2>/dev/null; echo $?
#> 3
#> 4
#> 0
#> 127
#> 143
#? 0

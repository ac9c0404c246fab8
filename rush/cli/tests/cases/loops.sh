# break and continue count loops; a loop's status is that of its last command.
for i in 1 2 3; do for j in a b c; do [ $j = b ] && continue 2; [ $i = 3 ] && break 2; echo $i$j; done; done
for ((i = 0, j = 9; i < j; i += 3, j--)); do echo "$i $j"; done
n=0; until ((n >= 3)); do ((n++)); done; echo $n
while false; do :; done; echo $?
for x; do echo never; done
set -- p q; for x do echo $x; done
#> 1a
#> 2a
#> 0 9
#> 3 8
#> 6 7
#> 3
#> 0
#> p
#> q
#? 0

# Assignments before a command hold for it alone; alone they stay, from left to right.
x=1
x=2 y=$x sh -c 'echo "$x ${y-}"'
echo "$x ${y-unset}"
x=3 y=$x; echo "$x $y"
x=$(echo from; exit 3); echo "$x $?"
f() { echo "in $x"; }; x=4 f; echo "$x"
#> 2 2
#> 1 unset
#> 3 3
#> from 3
#> in 4
#> from
#? 0

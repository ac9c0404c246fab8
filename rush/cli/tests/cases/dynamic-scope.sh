# A function sees its caller's local variables; unset shows what was hidden.
f() { local x=f; g; }
g() { echo "g sees $x"; x=g; }
x=top
f; echo "$x"
h() { local x=h; unset x; echo "${x-unset}"; }; h
k() { local y; echo "${y-unset}"; y=k; }; y=top; k; echo $y
r() { local -n ref=$1; ref=through; }; r x; echo $x
#> g sees f
#> top
#> unset
#> unset
#> top
#> through
#? 0

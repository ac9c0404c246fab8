# What a subshell changes stays there.
x=1; cd /
(x=2; cd /usr; set -f; f() { :; }; trap 'echo bye' EXIT; umask 077)
echo "$x $PWD $- $(type -t f) $(umask)" | sed 's/ h*B*[a-z]*B* /  /'
y=$(x=3; echo $x); echo "$y $x"
echo "$BASH_SUBSHELL $(echo $BASH_SUBSHELL) $( (echo $BASH_SUBSHELL) )"
#> bye
#> 1 /   0022
#> 3 1
#> 0 1 2
#? 0

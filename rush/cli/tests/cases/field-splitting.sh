# White space of IFS is collapsed, other separators make empty fields.
show() { printf '<%s>' "$@"; echo; }
x='  a  b '; show $x "$x"
IFS=:; x=':a::b:'; show $x
IFS=' :'; x=' a : b :: c '; show $x
IFS=; x='a b'; show $x
unset IFS; x=$'a\tb\nc'; show $x
set -- 'a b' '' c; show $* "$*" "$@"
#> <a><b><  a  b >
#> <><a><><b>
#> <a><b><><c>
#> <a b>
#> <a><b><c>
#> <a><b><c><a b  c><a b><><c>
#? 0

# A colon takes empty for unset; := assigns; ? ends the shell.
e=
echo "${u-d} ${e-d} ${e:-d} ${u:+s} ${e+s}|"
: "${u:=assigned}"; echo $u
(: "${none:?is missing}") 2>/dev/null; echo $?
echo "${e:-"a  b"}" ${e:-a  b}
set -- 1; echo "${2-second} ${@:-none}"
#> d  d  s|
#> assigned
#> 1
#> a  b a b
#> second 1
#? 0

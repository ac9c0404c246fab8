# Prefixes and suffixes, shortest and longest; replacement; case; length; substring.
p=/usr/local/lib/x.tar.gz
echo "${p##*/} ${p%/*} ${p%%.*} ${p#*/}"
echo "${p/l/L} ${p//l/L} ${p/#\/usr/U} ${p/%gz/xz} ${p//[aeiou]}"
s=hello; echo "${s^} ${s^^} ${s^^[el]} ${#s} ${s:1:3} ${s: -2} ${s:1:-1}"
v=s; echo "${!v} ${!p*}"
echo "${s@Q} ${s@U} ${s@a}"
x=$'tab\there'; echo "${x@Q}"
#> x.tar.gz /usr/local/lib /usr/local/lib/x usr/local/lib/x.tar.gz
#> /usr/Local/lib/x.tar.gz /usr/LocaL/Lib/x.tar.gz U/local/lib/x.tar.gz /usr/local/lib/x.tar.xz /sr/lcl/lb/x.tr.gz
#> Hello HELLO hELLo 5 ell lo ell
#> hello p
#> 'hello' HELLO 
#> $'tab\there'
#? 0

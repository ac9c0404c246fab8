# Redirections are made from left to right; {name} gets a number of the shell's own.
{ echo out; echo err >&2; } 2>&1 >/dev/null
exec {fd}>file; echo through >&$fd; exec {fd}>&-; cat file
[ $fd -ge 10 ] && echo high
echo one >file; echo two >>file; cat <file
exec 3<file; read -u 3 a; read -u 3 b; exec 3<&-; echo "$b $a"
echo x 3>&1 >&3 3>&-
set -C; echo no >file 2>/dev/null; echo $?; echo yes >|file; cat file
#> err
#> through
#> high
#> one
#> two
#> two one
#> x
#> ../case.sh: line 8: file: cannot overwrite existing file
#> 1
#> yes
#? 0

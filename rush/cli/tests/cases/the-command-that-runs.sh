# BASH_COMMAND, in traps and outside
echo $BASH_COMMAND
x=$BASH_COMMAND; echo "$x"
f() { echo "$BASH_COMMAND" "$1"; }
f a 'b c'
name=BASH_COMMAND; echo "${!name}"
for i in 1 2; do echo "$i: $BASH_COMMAND"; done
trap 'echo "E:$BASH_COMMAND:$LINENO"' ERR
false; (exit 9); (echo a; false)
[[ -z a ]]; ((0))
eval 'false; (exit 1)'
eval false
{ false; }
f() { false; }; f
( ( exit 3 ) )
true && (exit 4)
( exit 5 ) 2>/dev/null
trap - ERR
trap 'echo "D:$BASH_COMMAND:$LINENO"' DEBUG
case x in x) :;; esac
select x in a; do break; done </dev/null
[[ a ]]
for i in 1; do :; done
#> echo $BASH_COMMAND
#> x=$BASH_COMMAND
#> echo "$BASH_COMMAND" "$1" a
#> echo "${!name}"
#> 1: echo "$i: $BASH_COMMAND"
#> 2: echo "$i: $BASH_COMMAND"
#> E:false:9
#> E:( exit 9 ):9
#> a
#> E:( echo a; false ):9
#> E:[[ -z a ]]:10
#> E:((0)):10
#> E:false:11
#> E:( exit 1 ):11
#> E:eval 'false; (exit 1)':11
#> E:false:12
#> E:eval false:12
#> E:false:13
#> E:false:14
#> E:( ( exit 3 ) ):15
#> E:( exit 4 ):16
#> E:( exit 5 ) 2> /dev/null:17
#> D:case x in :20
#> D:::20
#> D:select x in a:21
#> 1) a
#> #?
#> D:[[ -n a ]]:22
#> D:for i in 1:23
#> D:::23
#? 0

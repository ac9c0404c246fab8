# eval reads its arguments as one line; ! names what a variable names.
name=target target=value; eval "echo \$$name"; echo ${!name}
eval 'f() { echo made; }'; f
eval "exit_status() { return $((1 + 2)); }"; exit_status; echo $?
declare "dyn_$name=1"; echo $dyn_target
eval 'echo "a' 2>/dev/null; echo "$?"
#> value
#> value
#> made
#> 3
#> 1
#> 2
#? 0

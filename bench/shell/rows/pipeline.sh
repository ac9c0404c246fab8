# A pipeline of two builtins.
i=0
while [ $i -lt @N@ ]; do echo a | :; i=$((i + 1)); done
echo $i

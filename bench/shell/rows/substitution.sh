# Command substitution of a builtin.
i=0
while [ $i -lt @N@ ]; do x=$(echo $i); i=$((i + 1)); done
echo $x

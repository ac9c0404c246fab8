# An array that grows element by element and is read back.
i=0
a=()
while [ $i -lt @N@ ]; do a+=($i); i=$((i + 1)); done
echo ${#a[@]}

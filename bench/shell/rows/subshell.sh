# An empty subshell.
i=0
while [ $i -lt @N@ ]; do (:); i=$((i + 1)); done
echo $i

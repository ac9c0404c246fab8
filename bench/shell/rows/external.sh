# An external program that does nothing.
i=0
while [ $i -lt @N@ ]; do /bin/true; i=$((i + 1)); done
echo $i

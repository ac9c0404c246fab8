# The classic counting loop: a test and an arithmetic expansion per turn.
i=0
while [ $i -lt @N@ ]; do i=$((i + 1)); done
echo $i

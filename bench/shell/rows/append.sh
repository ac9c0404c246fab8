# A string that grows piece by piece.
i=0 x=
while [ $i -lt @N@ ]; do x=${x}abc; i=$((i + 1)); done
echo ${#x}

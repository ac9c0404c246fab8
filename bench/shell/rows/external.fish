# An external program that does nothing.
set i 0
while test $i -lt @N@
  /bin/true
  set i (math $i + 1)
end
echo $i

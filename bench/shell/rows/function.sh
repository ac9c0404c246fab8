# A call of an empty function.
f() { :; }
for scale in @SCALE@; do
  for a in 0 1 2 3 4 5 6 7 8 9; do for b in 0 1 2 3 4 5 6 7 8 9; do for c in 0 1 2 3 4 5 6 7 8 9; do
    f $c
  done; done; done
done
echo "$a$b$c"

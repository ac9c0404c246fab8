# The null command in a loop: what a command costs at least.
for scale in @SCALE@; do
  for a in 0 1 2 3 4 5 6 7 8 9; do for b in 0 1 2 3 4 5 6 7 8 9; do for c in 0 1 2 3 4 5 6 7 8 9; do
    :
  done; done; done
done
echo "$a$b$c"

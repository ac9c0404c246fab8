# One pattern over a large folder, a turn for each name.
n=
for f in files/*; do n=$f; done
echo "$n"

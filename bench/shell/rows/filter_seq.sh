# Counts.
seq @N@ > copy
tail -n 1 copy

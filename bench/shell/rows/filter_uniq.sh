# Counts the lines of a file that differ.
uniq -c lines > copy
tail -n 1 copy

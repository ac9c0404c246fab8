# Searches a file for strings and for an expression.
grep -c 999 lines
grep -cE '[0-9]+7 of .*with' lines

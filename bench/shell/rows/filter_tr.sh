# Translates and deletes the characters of a file.
tr a-z A-Z < lines > copy
tr -d aeiou < lines >> copy
wc -c < copy

# Numbers the lines of a file.
cat -n lines > copy
tail -n 1 copy

# Copies a file.
cat lines lines lines > copy
wc -c < copy

# Edits the lines of a file.
sed 's/words/things/' lines > copy
sed -n -E '/9{3} of (a) file/p' lines >> copy
wc -c < copy

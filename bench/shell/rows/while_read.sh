# Reading a file line by line.
last=
while read -r line; do last=$line; done <lines
echo "$last"

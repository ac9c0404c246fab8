# A tilde at the beginning of a word, or behind = and : of an assignment.
HOME=/h
echo ~ ~/x "~" \~ a~ ~nobody-of-this-name
v=~/a:~/b; echo $v
echo x=~ --dir=~/y
PATH=$PATH:~/bin; echo "${PATH##*:}"
#> /h /h/x ~ ~ a~ ~nobody-of-this-name
#> /h/a:/h/b
#> x=/h --dir=~/y
#> /h/bin
#? 0

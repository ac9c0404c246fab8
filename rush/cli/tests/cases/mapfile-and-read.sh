# read splits and takes backslashes away; mapfile keeps lines.
read a b <<<'one two  three'; echo "[$a] [$b]"
read -r a <<<'back\slash'; read b <<<'back\slash'; echo "$a $b"
IFS=: read -ra f <<<'x::y:'; echo "${#f[@]} ${f[2]}"
printf 'no newline' | { read x; echo "$? $x"; }
read -n 3 x <<<abcdef; read -d : y <<<'k:v'; echo $x $y
mapfile -t lines <<<$'1\n2\n3'; echo "${#lines[@]} ${lines[2]}"
mapfile -s 1 -n 1 some < <(printf 'a\nb\nc\n'); printf '%s' "${some[@]}"
#> [one] [two  three]
#> back\slash backslash
#> 3 y
#> 1 no newline
#> abc k
#> 3 3
#> b
#? 0

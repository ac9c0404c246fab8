# A quoted delimiter keeps the text as it is; <<- drops tabs; several may follow one line.
x=value
cat <<E
$x $(echo sub) \$x \
joined
E
cat <<'E'
$x \n
E
cat <<-E
	tabs
		go
	E
cat <<A - <<B
first
A
second
B
cat <<<"$x  here"
#> value sub $x joined
#> $x \n
#> tabs
#> go
#> second
#> value  here
#? 0

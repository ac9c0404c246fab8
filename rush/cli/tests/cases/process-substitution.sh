# A command stands where a file name is wanted.
diff <(printf 'a\nb\n') <(printf 'a\nc\n'); echo $?
while read l; do n=$((n + 1)); done < <(printf '1\n2\n3\n'); echo $n
echo data | tee >(cat >copy) >/dev/null; sleep 0.2; cat copy
#> 2c2
#> < b
#> ---
#> > c
#> 1
#> 3
#> data
#? 0

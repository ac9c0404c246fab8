# Line ends at the end are removed, bytes 0 too; quotes inside begin anew.
x=$(printf 'a\n\nb\n\n\n'); echo "[$x]"
echo "$(echo "a  b" "$(echo "c  d")")"
echo `echo \`echo nested\``
x=$(exit 7); echo $?
echo $(< /dev/null) end
y=$(cat <<'E'
here-document )
E
); echo "$y"
#> [a
#>
#> b]
#> a  b c  d
#> nested
#> 7
#> end
#> here-document )
#? 0

# Single quotes keep all, double quotes keep all but $ ` " \, $'' takes escapes.
echo 'a"b\n$x' "a'b\$x\n\"" a\ b\
c
echo $'\x41\101\u00e9\t|' "a\
b"
x='*  *'; echo "$x" '' "" ""'' | cat -A
echo "${x#"*"}" "$(echo "a'b")"
#> a"b\n$x a'b$x\n" a bc
#> AAé	| ab
#> *  *   $
#>   * a'b
#? 0

# Indexed arrays are sparse; a negative index counts from the end; a slice skips holes.
a=(zero one [5]=five six)
echo "${#a[@]} ${!a[@]}"
echo "${a[-1]} ${a[@]: -2:1}"
unset 'a[1]'
a+=(seven)
printf '<%s>' "${a[@]:1}"; echo
b=("${a[@]/e/E}"); echo "${b[*]}"
IFS=,; echo "${a[*]}" "${!a[*]}"
#> 4 0 1 5 6
#> six five
#> <five><six><seven>
#> zEro fivE six sEven
#> zero,five,six,seven 0,5,6,7
#? 0

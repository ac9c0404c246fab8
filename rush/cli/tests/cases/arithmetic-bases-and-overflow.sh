# Numbers have bases up to 64, wrap at 64 bits, and names are evaluated as expressions.
echo $((16#ff)) $((2#1010)) $((64#@_)) $((010)) $((0x10))
echo $((9223372036854775807 + 1)) $((-7 / 2)) $((-7 % 3)) $((2 ** 62))
a=b b=c c=5
echo $((a + 1)) $((a++ , b)) "$a"
((0)); echo $?
echo $((1 ? 2 : (x = 3))) "${x-unset}"
#> 255 10 4031 8 16
#> -9223372036854775808 -3 -1 4611686018427387904
#> 6 5 6
#> 1
#> 2 unset
#? 0

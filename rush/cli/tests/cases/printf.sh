# A format is used again for what is left; %q quotes, %b takes escapes, -v assigns.
printf '%s-%s\n' a b c
printf '%5d|%-5s|%05.1f|%x|%o|%c\n' 42 ab 3.14159 255 8 xyz
printf '%q\n' 'a b' "it's" '' $'\n'
printf '%b' 'a\tb\n'; printf '%%|%s\n' 'a\tb'
printf -v v '%03d' 7; echo $v
printf '%d\n' 0x1f 077 "'A"
printf '%*d|%.*f\n' 5 42 2 1.005
#> a-b
#> c-
#>    42|ab   |003.1|ff|10|x
#> a\ b
#> it\'s
#> ''
#> $'\n'
#> a	b
#> %|a\tb
#> 007
#> 31
#> 63
#> 65
#>    42|1.00
#? 0

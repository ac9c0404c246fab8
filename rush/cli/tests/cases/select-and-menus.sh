# select prints a menu on standard error and reads a number.
select x in one two; do echo "chose $x $REPLY"; break; done <<<2 2>/dev/null
PS3='? '; select x in only; do echo $x; done <<<1 2>&1
#> chose two 2
#> 1) only
#> ? only
#> ? 
#? 1

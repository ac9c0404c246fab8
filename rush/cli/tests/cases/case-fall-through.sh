# `;&` goes on with the next list, `;;&` with the next pattern.
t() { case $1 in a) echo a ;& b) echo b ;;& [bc]) echo bc ;; *) echo other ;; esac; }
t a; t b; t c; t d
case 'a*' in 'a*') echo quoted ;; esac
case x in (y) ;; esac; echo $?
#> a
#> b
#> other
#> b
#> bc
#> bc
#> other
#> quoted
#> 0
#? 0

# A signal that comes together with the end of a child interrupts the wait
trap 'echo usr1' USR1
for i in 1 2 3 4 5; do
    (sleep 0.02; kill -USR1 $$) &
    wait; echo $?
done
CDPATH=/; cd usr; pwd
CDPATH=//; cd usr/bin; pwd
echo ${PS1-unset} ${PS2-unset}
#> usr1
#> 138
#> usr1
#> 138
#> usr1
#> 138
#> usr1
#> 138
#> usr1
#> 138
#> /usr
#> /usr
#> //usr/bin
#> //usr/bin
#> unset unset
#? 0

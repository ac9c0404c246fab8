# EXIT runs once at the end; a trap of a signal runs between commands; ERR and RETURN and DEBUG too.
trap 'echo exit $?' EXIT
trap 'echo usr1' USR1; kill -USR1 $$; echo after
trap 'echo err' ERR; false; true
f() { trap 'echo return' RETURN; :; }; f
trap - ERR; false
trap -p USR1
(trap 'echo inner' EXIT; exit 2); echo $?
exit 3
#> usr1
#> after
#> err
#> return
#> trap -- 'echo usr1' SIGUSR1
#> inner
#> 2
#> exit 3
#? 3

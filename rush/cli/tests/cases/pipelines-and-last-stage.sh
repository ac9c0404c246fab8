# Each stage is a subshell, unless lastpipe is set and jobs are not.
x=outer; echo inner | read x; echo $x
shopt -s lastpipe; echo inner | read x; echo $x
! true | false; echo $?
{ echo 1; echo 2; } | while read n; do t=$((t + n)); echo $t; done; echo $t
echo both |& cat; ls /nowhere |& grep -c nowhere
#> outer
#> inner
#> 0
#> 1
#> 3
#> 3
#> both
#> 1
#? 0

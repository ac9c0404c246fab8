# Every subshell has random numbers of its own
RANDOM=42; echo $RANDOM $RANDOM
differ() {
    local -A seen
    for word; do seen[$word]=1; done
    echo $(( ${#seen[@]} > 6 ))
}
differ $(for i in 1 2 3 4 5 6 7 8 9 10; do echo $(echo $RANDOM$RANDOM); done)
differ $(for i in 1 2 3 4 5 6 7 8 9 10; do (echo $RANDOM$RANDOM); done)
differ $(for i in 1 2 3 4 5 6 7 8 9 10; do echo $RANDOM$RANDOM | cat; done)
differ $(for i in 1 2 3 4 5 6 7 8 9 10; do { echo $RANDOM$RANDOM; } & wait; done)
differ $(for i in 1 2 3 4 5 6 7 8 9 10; do RANDOM=42; echo $(echo $RANDOM$RANDOM); done)
a=$(RANDOM=42; echo $RANDOM $RANDOM); b=$(RANDOM=42; echo $RANDOM $RANDOM); [[ $a == "$b" ]]; echo $?
#> 17772 26794
#> 1
#> 1
#> 1
#> 1
#> 1
#> 0
#? 0

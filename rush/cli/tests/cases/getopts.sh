# Options may be joined, -- ends them, and a colon in front of the list makes errors silent.
parse() {
    local OPTIND=1 o
    while getopts :ab:c o; do
        case $o in
            b) echo "b=$OPTARG" ;;
            :) echo "$OPTARG needs a value" ;;
            \?) echo "unknown $OPTARG" ;;
            *) echo "$o" ;;
        esac
    done
    shift $((OPTIND - 1)); echo "rest: $*"
}
parse -ab value -c -- -a x
parse -cbjoined -z file
parse -b
#> a
#> b=value
#> c
#> rest: -a x
#> c
#> b=joined
#> unknown z
#> rest: file
#> b needs a value
#> rest: 
#? 0

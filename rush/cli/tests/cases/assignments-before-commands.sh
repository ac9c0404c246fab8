# Variables set before a command: which stay behind it
show() { echo "$1: ${x-unset} $(declare -p x 2>/dev/null) $(env | grep ^x=)"; }
check() {
    unset x
    (eval "$1"; show "$1")
    (x=1; eval "$1"; show "x=1; $1")
    (export x=1; eval "$1"; show "export x=1; $1")
    (f() { eval "$1"; show "in f"; }; f "$1"; show "f: $1")
    (f() { local x=2; eval "$1"; show "in f"; }; f "$1"; show "f, local: $1")
    (g() { eval "${1#x=5 }"; show "in g"; }; x=5 g "$1"; show "g: $1")
}
for command in export readonly 'declare -x' 'declare -r' 'declare -g' 'export -n' 'command export' 'builtin export' unset; do
    check "x=5 $command x"
done
for command in 'export x=7' 'readonly x=7' 'printf -v x 8' 'read x <<<9' 'declare -g x=7' ':' 'true' 'let x=3'; do
    check "x=5 $command"
done
f() { x=5 local x; show "local"; local y; x=6 declare -x x; show "declare -x"; }
f; show "after f"
f() { local -x x; show "local -x"; }
x=5 f; show "after f"
y=5 eval 'export y'; echo "eval ${y-unset}"
IFS=, export IFS
set -- a b; echo "$*"
#> x=5 export x: 5 declare -x x="5" x=5
#> x=1; x=5 export x: 5 declare -x x="5" x=5
#> export x=1; x=5 export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f: x=5 export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f, local: x=5 export x: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 export x: 5 declare -x x="5" x=5
#> x=5 readonly x: 5 declare -rx x="5" x=5
#> x=1; x=5 readonly x: 5 declare -rx x="5" x=5
#> export x=1; x=5 readonly x: 5 declare -rx x="5" x=5
#> in f: 5 declare -rx x="5" x=5
#> f: x=5 readonly x: 5 declare -rx x="5" x=5
#> in f: 5 declare -rx x="5" x=5
#> f, local: x=5 readonly x: unset
#> in g: 5 declare -rx x="5" x=5
#> g: x=5 readonly x: 5 declare -rx x="5" x=5
#> x=5 declare -x x: 5 declare -x x="5" x=5
#> x=1; x=5 declare -x x: 5 declare -x x="5" x=5
#> export x=1; x=5 declare -x x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f: x=5 declare -x x: unset
#> in f: 5 declare -x x="5" x=5
#> f, local: x=5 declare -x x: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 declare -x x: 5 declare -x x="5" x=5
#> x=5 declare -r x: 5 declare -rx x="5" x=5
#> x=1; x=5 declare -r x: 5 declare -rx x="5" x=5
#> export x=1; x=5 declare -r x: 5 declare -rx x="5" x=5
#> in f: 5 declare -rx x="5" x=5
#> f: x=5 declare -r x: unset
#> in f: 5 declare -rx x="5" x=5
#> f, local: x=5 declare -r x: unset
#> in g: 5 declare -rx x="5" x=5
#> g: x=5 declare -r x: 5 declare -rx x="5" x=5
#> x=5 declare -g x: unset declare -- x
#> x=1; x=5 declare -g x: 1 declare -- x="1"
#> export x=1; x=5 declare -g x: 1 declare -x x="1" x=1
#> in f: unset declare -- x
#> f: x=5 declare -g x: unset declare -- x
#> in f: 2 declare -- x="2"
#> f, local: x=5 declare -g x: unset declare -- x
#> in g: 5 declare -x x="5" x=5
#> g: x=5 declare -g x: unset declare -- x
#> x=5 export -n x: unset
#> x=1; x=5 export -n x: 1 declare -- x="1"
#> export x=1; x=5 export -n x: 1 declare -x x="1" x=1
#> in f: unset
#> f: x=5 export -n x: unset
#> in f: 2 declare -- x="2"
#> f, local: x=5 export -n x: unset
#> in g: 5 declare -- x="5"
#> g: x=5 export -n x: unset
#> x=5 command export x: 5 declare -x x="5" x=5
#> x=1; x=5 command export x: 5 declare -x x="5" x=5
#> export x=1; x=5 command export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f: x=5 command export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f, local: x=5 command export x: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 command export x: 5 declare -x x="5" x=5
#> x=5 builtin export x: 5 declare -x x="5" x=5
#> x=1; x=5 builtin export x: 5 declare -x x="5" x=5
#> export x=1; x=5 builtin export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f: x=5 builtin export x: 5 declare -x x="5" x=5
#> in f: 5 declare -x x="5" x=5
#> f, local: x=5 builtin export x: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 builtin export x: 5 declare -x x="5" x=5
#> x=5 unset x: unset
#> x=1; x=5 unset x: 1 declare -- x="1"
#> export x=1; x=5 unset x: 1 declare -x x="1" x=1
#> in f: unset
#> f: x=5 unset x: unset
#> in f: 2 declare -- x="2"
#> f, local: x=5 unset x: unset
#> in g: unset
#> g: x=5 unset x: unset
#> x=5 export x=7: 7 declare -x x="7" x=7
#> x=1; x=5 export x=7: 7 declare -x x="7" x=7
#> export x=1; x=5 export x=7: 7 declare -x x="7" x=7
#> in f: 7 declare -x x="7" x=7
#> f: x=5 export x=7: 7 declare -x x="7" x=7
#> in f: 7 declare -x x="7" x=7
#> f, local: x=5 export x=7: unset
#> in g: 7 declare -x x="7" x=7
#> g: x=5 export x=7: 7 declare -x x="7" x=7
#> x=5 readonly x=7: 7 declare -rx x="7" x=7
#> x=1; x=5 readonly x=7: 7 declare -rx x="7" x=7
#> export x=1; x=5 readonly x=7: 7 declare -rx x="7" x=7
#> in f: 7 declare -rx x="7" x=7
#> f: x=5 readonly x=7: 7 declare -rx x="7" x=7
#> in f: 7 declare -rx x="7" x=7
#> f, local: x=5 readonly x=7: unset
#> in g: 7 declare -rx x="7" x=7
#> g: x=5 readonly x=7: 7 declare -rx x="7" x=7
#> x=5 printf -v x 8: 8 declare -- x="8"
#> x=1; x=5 printf -v x 8: 8 declare -- x="8"
#> export x=1; x=5 printf -v x 8: 8 declare -x x="8" x=8
#> in f: 8 declare -- x="8"
#> f: x=5 printf -v x 8: 8 declare -- x="8"
#> in f: 8 declare -- x="8"
#> f, local: x=5 printf -v x 8: unset
#> in g: 8 declare -x x="8" x=8
#> g: x=5 printf -v x 8: unset
#> x=5 read x <<<9: unset
#> x=1; x=5 read x <<<9: 1 declare -- x="1"
#> export x=1; x=5 read x <<<9: 1 declare -x x="1" x=1
#> in f: unset
#> f: x=5 read x <<<9: unset
#> in f: 2 declare -- x="2"
#> f, local: x=5 read x <<<9: unset
#> in g: 9 declare -x x="9" x=9
#> g: x=5 read x <<<9: unset
#> x=5 declare -g x=7: 7 declare -- x="7"
#> x=1; x=5 declare -g x=7: 7 declare -- x="7"
#> export x=1; x=5 declare -g x=7: 7 declare -x x="7" x=7
#> in f: 7 declare -- x="7"
#> f: x=5 declare -g x=7: 7 declare -- x="7"
#> in f: 2 declare -- x="2"
#> f, local: x=5 declare -g x=7: 7 declare -- x="7"
#> in g: 5 declare -x x="5" x=5
#> g: x=5 declare -g x=7: 7 declare -- x="7"
#> x=5 :: unset
#> x=1; x=5 :: 1 declare -- x="1"
#> export x=1; x=5 :: 1 declare -x x="1" x=1
#> in f: unset
#> f: x=5 :: unset
#> in f: 2 declare -- x="2"
#> f, local: x=5 :: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 :: unset
#> x=5 true: unset
#> x=1; x=5 true: 1 declare -- x="1"
#> export x=1; x=5 true: 1 declare -x x="1" x=1
#> in f: unset
#> f: x=5 true: unset
#> in f: 2 declare -- x="2"
#> f, local: x=5 true: unset
#> in g: 5 declare -x x="5" x=5
#> g: x=5 true: unset
#> x=5 let x=3: 3 declare -- x="3"
#> x=1; x=5 let x=3: 3 declare -- x="3"
#> export x=1; x=5 let x=3: 3 declare -x x="3" x=3
#> in f: 3 declare -- x="3"
#> f: x=5 let x=3: 3 declare -- x="3"
#> in f: 3 declare -- x="3"
#> f, local: x=5 let x=3: unset
#> in g: 3 declare -x x="3" x=3
#> g: x=5 let x=3: unset
#> local: 5 declare -x x="5" x=5
#> declare -x: 6 declare -x x="6" x=6
#> after f: unset
#> local -x: 5 declare -x x="5" x=5
#> after f: 5 declare -x x="5" x=5
#> eval unset
#> a,b
#? 0

# A pattern without a match stays; dot files need a dot; ** needs globstar.
mkdir -p d/e; : >d/a.txt; : >d/e/b.txt; : >.hidden; : >'sp ace'
echo * d/*.txt none*
shopt -s nullglob dotglob; echo * none*
shopt -s globstar; echo **/*.txt
shopt -u nullglob dotglob; shopt -s extglob
echo d/!(e) d/@(a|b).txt d/+([a-z]).txt
x='*'; echo "$x" $x | head -c 60
set -f; echo *
#> d sp ace d/a.txt none*
#> .hidden d sp ace
#> d/a.txt d/e/b.txt
#> d/a.txt d/a.txt d/a.txt
#> * d sp ace
#> *
#? 0

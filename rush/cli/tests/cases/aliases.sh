# Aliases hold where they are turned on, from the next line on; a blank at the end goes on.
alias say='echo said'
say 2>/dev/null || echo off
shopt -s expand_aliases
alias say='echo said' with='echo with ' word=replaced
say it
with word
\say 2>/dev/null || echo quoted
unalias say; alias say 2>/dev/null || echo none
#> off
#> said it
#> with replaced
#> quoted
#> none
#? 0

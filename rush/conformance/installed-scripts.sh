#!/bin/sh
# Reads every shell script of the machine with bash and with rush: `installed-scripts.sh RUSH [FOLDER...]`.
#
# For each file that begins with `#!` and sh, dash or bash: whether `-n` accepts it in both shells, and what `--check` says of it.
# Nothing runs. Ends with 1 if the shells do not agree on a file.
rush=${1:?usage: installed-scripts.sh RUSH [FOLDER...]}
shift
[ $# -gt 0 ] || set -- /usr/bin /usr/sbin /etc /usr/lib /usr/share /var/lib/dpkg/info
find "$@" -type f -size -2000k 2>/dev/null | sort -u | {
    scripts=0 refused=0 apart=0 told=0
    while IFS= read -r file; do
        head=$(head -c 100 "$file" 2>/dev/null | head -n 1 | tr -d '\000') || continue
        case $head in
        '#!'*/sh | '#!'*/sh' '* | '#!'*/bash | '#!'*/bash' '* | '#!'*/dash | '#!'*/dash' '* | '#!'*'env sh' | '#!'*'env bash') ;;
        *) continue ;;
        esac
        scripts=$((scripts + 1))
        bash -n "$file" >/dev/null 2>&1 </dev/null
        theirs=$?
        "$rush" -n "$file" >/dev/null 2>&1 </dev/null
        ours=$?
        [ "$theirs" -eq 0 ] || refused=$((refused + 1))
        if [ "$((theirs != 0))" -ne "$((ours != 0))" ]; then
            apart=$((apart + 1))
            printf 'apart: %s (bash %d, rush %d)\n' "$file" "$theirs" "$ours"
        fi
        found=$("$rush" --check "$file" | grep -v ': refused: ')
        if [ -n "$found" ]; then
            told=$((told + 1))
            printf '%s\n' "$found"
        fi
    done
    printf '%d scripts, %d refused by bash, %d not alike, %d with findings\n' "$scripts" "$refused" "$apart" "$told"
    [ "$apart" -eq 0 ]
}

#!/bin/sh
# Scripts that nobody here wrote, under bash and under rush: the same output, status and files.
#
#   rush/conformance/real-scripts.sh RUSH FOLDER [CASE...]
#
# FOLDER holds the unpacked packages (docs/rush-real-scripts.md says how to get them). Every case runs twice in a mount
# namespace of its own (root, `unshare`, `mount`) in which everything but /tmp is read-only; bash, and then RUSH, stands
# where bash and sh stand, so that every script of the package runs under it, whatever its first line says. A case's
# result is what it prints, its status, and the files it leaves in `out`.
set -eu

cases='ffi sodium nvm nvm-tests bats shellspec neofetch git-filter-branch git-subtree git-submodule maintainer
ca-certificates completion ldd gzip dkms debootstrap openssh libtool adduser'

if [ "${1-}" = --inside ]; then
    # In the namespace, with the package folder copied to /tmp/p; $2 is the case.
    cd /tmp/p
    mkdir /tmp/out
    export HOME=/tmp LC_ALL=C.UTF-8 TERM=dumb GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
    git config --global init.defaultBranch main
    git config --global protocol.file.allow always
    repository() {
        git init -q "$1"
        for n in 1 2 3; do
            mkdir -p "$1/lib"
            echo "$n" > "$1/lib/file$n"
            echo "$n" > "$1/top"
            git -C "$1" add -A
            git -C "$1" commit -qm "commit $n"
        done
    }
    configure() {
        cd "$1"
        bash ./configure $2
        # Some configure in a folder of their own.
        find . -newer configure \( -name config.status -o -name Makefile \) -exec cp {} /tmp/out \;
        find . -newer configure -name '*.h' -exec cp {} /tmp/out \;
    }
    case $2 in
    ffi) configure libffi-sys/libffi --disable-docs ;;
    libtool)
        cd libsodium-sys/libsodium
        bash ./configure > /dev/null 2>&1
        bash ./libtool --version
        bash ./libtool --config
        bash ./libtool --mode=compile --dry-run cc -c x.c -o x.lo
        bash ./libtool --mode=link --dry-run cc x.lo -o libx.la -rpath /usr/lib -version-info 3:2:1
        ;;
    sodium) configure libsodium-sys/libsodium '' ;;
    nvm)
        export NVM_DIR=/tmp/nvmdir
        mkdir -p $NVM_DIR/versions/node/v18.2.0/bin $NVM_DIR/versions/node/v20.11.1/bin $NVM_DIR/alias
        printf '#!/bin/sh\necho v20.11.1\n' > $NVM_DIR/versions/node/v20.11.1/bin/node
        cp $NVM_DIR/versions/node/v20.11.1/bin/node $NVM_DIR/versions/node/v18.2.0/bin/node
        chmod +x $NVM_DIR/versions/node/*/bin/node
        bash -c '. ./nvm/nvm.sh --no-use
            nvm --version; nvm ls --no-colors; nvm alias default 20 --no-colors; nvm use --silent default; node
            nvm current; nvm which 18; nvm version 18; nvm version-remote 2>&1 | head -1; nvm deactivate; nvm unalias default
            nvm_normalize_version v1.2.3; nvm_version_greater 2.0.0 1.9.9; echo $?; nvm debug 2>&1 | grep -c .; nvm nonsense
            nvm_ensure_version_prefix 1.2; nvm_strip_path "/a:$NVM_DIR/versions/node/v18.2.0/bin:/b" /bin; nvm help | cksum'
        ;;
    nvm-tests)
        cd nvm/test/fast
        export NVM_DIR=/tmp/p/nvm
        find . -type f -perm /1 | sort | while read -r test; do
            status=0
            (cd "${test%/*}" && timeout 20 bash "./${test##*/}" < /dev/null > /tmp/log 2>&1) || status=$?
            echo "$test: $status"
        done
        ;;
    bats)
        cat > x.bats <<'END'
setup() { dir=$BATS_TEST_TMPDIR; echo hi > "$dir/f"; }
teardown() { rm "$dir/f"; }
helper() { [ "$1" = "$2" ]; }
@test "output and status" { run cat "$dir/f"; [ "$status" -eq 0 ]; [ "$output" = hi ]; }
@test "lines" { run printf 'a\nb\n'; [ "${#lines[@]}" -eq 2 ]; [ "${lines[1]}" = b ]; }
@test "fails" { helper a b; }
@test "skips" { skip "not today"; }
@test "run !" { run -1 false; }
@test "regex" { [[ abc =~ b(c) ]]; [ "${BASH_REMATCH[1]}" = c ]; }
@test "command not found" { run nothing_here; [ "$status" -eq 127 ]; }
END
        bash bats-1.13.0/package/bin/bats --tap x.bats
        echo "status $?"
        bash bats-1.13.0/package/bin/bats --pretty --no-tempdir-cleanup --timing x.bats | sed 's/[0-9]* ms/N ms/; s/[0-9.]* seconds/N/; s,/tmp/[^ ]*,DIR,g'
        bash bats-1.13.0/package/bin/bats --count x.bats
        bash bats-1.13.0/package/bin/bats -f 'lines|regex' x.bats
        ;;
    shellspec)
        cd shellspec
        bash ./shellspec --shell bash --no-banner --jobs 0 --format tap --random none --skip-message quiet 2>&1 |
            sed 's/[0-9.]* seconds/N/; s/bash [0-9.]*.*release.*/bash/'
        ;;
    neofetch) bash neofetch/usr/bin/neofetch --stdout --config none --disable uptime memory packages cpu gpu resolution term term_font shell de wm ;;
    git-filter-branch)
        repository r
        cd r
        FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --tree-filter 'rm -f lib/file2' --msg-filter 'sed s/commit/change/' HEAD | tr '\r' '\n' | grep -v ^Rewrite
        FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --subdirectory-filter lib | tr '\r' '\n' | grep -v ^Rewrite
        git log --stat
        ;;
    git-subtree)
        repository r
        cd r
        bash ../git/usr/share/doc/git/contrib/subtree/git-subtree.sh split --prefix=lib -b only 2>&1 | tr '\r' '\n'
        git log only --stat
        bash ../git/usr/share/doc/git/contrib/subtree/git-subtree.sh add --prefix=vendor . only 2>&1
        git log --oneline --stat
        ;;
    git-submodule)
        repository r
        repository s
        cd r
        git submodule add ../s sub 2>&1
        git submodule status
        git submodule foreach 'echo $name $sm_path'
        git mergetool --tool-help
        bash ../git/usr/share/doc/git/contrib/git-jump/git-jump 2>&1
        bash ../git/usr/share/doc/git/contrib/workdir/git-new-workdir . ../w
        git -C ../w log --oneline
        git rebase -h 2>&1 | head -3
        git difftool --tool-help
        ;;
    maintainer)
        export DPKG_MAINTSCRIPT_PACKAGE=x DPKG_MAINTSCRIPT_NAME=postinst DPKG_ROOT=
        for script in */DEBIAN/preinst */DEBIAN/postinst */DEBIAN/prerm */DEBIAN/postrm */DEBIAN/config; do
            [ -f "$script" ] || continue
            for action in configure upgrade remove purge abort-upgrade nonsense; do
                echo "== $script $action"
                # Sorted, because the traces of the stages of a pipeline come in any order.
                timeout 20 bash -x "$script" $action 1.0 < /dev/null 2>&1 | sed 's/[0-9]\{4,\}/N/g; s/line [0-9]*:/line N:/' | sort
            done
        done
        ;;
    ca-certificates)
        mkdir -p c/certs c/local c/hooks
        cp /etc/ssl/certs/ISRG_Root_X1.pem c/certs/one.crt 2>/dev/null || cp "$(ls /etc/ssl/certs/*.pem | head -1)" c/certs/one.crt
        echo one.crt > c/conf
        bash ca-certificates/usr/sbin/update-ca-certificates --verbose --fresh --certsconf c/conf --certsdir c/certs --localcertsdir c/local --hooksdir c/hooks --etccertsdir /tmp/out
        bash ca-certificates/usr/sbin/update-ca-certificates --help
        rm -f /tmp/out/*.0
        ;;
    completion)
        bash -c '. bash-completion/usr/share/bash-completion/bash_completion; echo $?
            complete -p | sort | cksum; declare -F | cksum
            for c in git ssh tar make dd find apt-get gcc; do _completion_loader $c; echo "$c $?"; complete -p $c; done
            try() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                local f=$(complete -p $1); f=${f#*-F }; f=${f%% *}; $f $1 "${@: -1}" "${@: -2:1}"; printf "%s\n" "${COMPREPLY[@]}" | sort; }
            cd /usr; try dd if=; try find . -ty; try make -; try tar x; try ssh -o Ciph; try apt-get ins; try gcc -O; try cd li; try kill -; try export HO'
        ;;
    ldd) bash /usr/bin/ldd /bin/true | sed 's/0x[0-9a-f]*/ADDRESS/'; bash /usr/bin/ldd --version; bash /usr/bin/ldd /etc/passwd; bash /usr/bin/ldd ;;
    gzip)
        printf 'alpha\nbeta\ngamma\n' > t1
        printf 'alpha\ndelta\n' > t2
        gzip -k t1 t2
        for command in 'zgrep -n a t1.gz t2.gz' 'zgrep -c -e beta t1.gz' 'zdiff t1.gz t2.gz' 'zcmp t1.gz t2.gz' 'zcat t1.gz' 'zforce t1' 'znew --help' 'gzexe --help' 'gunzip -l t1.gz' 'zmore --version' 'zfgrep alph t2.gz' 'zgrep -r x' 'zgrep'; do
            echo "== $command"
            set -- $command
            program=/usr/bin/$1
            shift
            bash "$program" "$@" 2>&1
            echo "status $?"
        done
        ;;
    dkms)
        mkdir -p m/m-1.0 tree
        printf 'PACKAGE_NAME=m\nPACKAGE_VERSION=1.0\nBUILT_MODULE_NAME[0]=m\nDEST_MODULE_LOCATION[0]=/kernel/x\nAUTOINSTALL=yes\n' > m/m-1.0/dkms.conf
        for command in 'add -m m -v 1.0' 'status' 'build -m m -v 1.0 -k 1.2.3' 'remove -m m -v 1.0 --all' '--help' 'nonsense' 'status -m x'; do
            echo "== $command"
            bash dkms/usr/sbin/dkms $command --dkmstree /tmp/p/tree --sourcetree /tmp/p/m 2>&1
            echo "status $?"
        done
        ;;
    debootstrap)
        DEBOOTSTRAP_DIR=/tmp/p/debootstrap/usr/share/debootstrap
        export DEBOOTSTRAP_DIR
        for command in --help --version '--print-debs stable /tmp/target http://127.0.0.1:9' 'nonsense /tmp/target' '--arch=x --variant=minbase'; do
            echo "== $command"
            timeout 60 bash debootstrap/usr/sbin/debootstrap $command 2>&1
            echo "status $?"
        done
        ;;
    openssh)
        bash openssh-server/etc/init.d/ssh status 2>&1
        bash openssh-server/etc/init.d/ssh nonsense 2>&1
        bash /usr/bin/ssh-copy-id -h 2>&1
        bash -x openssh-server/DEBIAN/postinst nonsense 2>&1
        ;;
    adduser)
        for file in adduser/usr/share/doc/adduser/examples/*/* adduser/usr/share/doc/adduser/examples/*; do
            [ -f "$file" ] && bash -n "$file" 2>&1 | head -2
        done
        for file in */usr/share/doc/*/examples/* */usr/lib/*/* /usr/bin/* /usr/sbin/* /etc/init.d/* /usr/lib/git-core/* /usr/share/*/*.sh; do
            if [ -f "$file" ] && head -c 40 "$file" | grep -aqE '^#! ?/(usr/)?bin/(env )?(ba)?sh'; then
                echo "$file"
                bash -n "$file"
                echo "status $?"
            fi
        done
        ;;
    *) echo "no case '$2'"; exit 2 ;;
    esac
    exit
fi

rush=$(readlink -f "$1")
folder=$(readlink -f "$2")
script=$(readlink -f "$0")
shift 2
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Runs case $1 in a namespace where bash and sh are $2.
run() {
    unshare --mount sh -c '
        set -e
        mount --make-rprivate /
        mount -t tmpfs -o mode=1777 tmpfs /mnt
        cp "$1" /mnt/script
        cp -a "$2" /mnt/p
        cp "$3" /mnt/shell
        for path in /usr/bin/bash /usr/bin/dash; do mount --bind /mnt/shell "$path"; done
        mount -o remount,ro,bind /
        mount --bind /mnt /tmp
        cd /tmp
        set +e
        timeout 280 sh /tmp/script --inside "$4" 2>&1 < /dev/null
        echo "status $?"
        for file in /tmp/out/*; do [ -f "$file" ] && echo "== $file" && cat "$file"; done
    ' sh "$script" "$folder" "$2" "$1"
}

failed=0
for case in ${*:-$cases}; do
    run "$case" "$(command -v bash)" > "$results/bash" 2>&1 || true
    run "$case" "$rush" > "$results/rush" 2>&1 || true
    if cmp -s "$results/bash" "$results/rush"; then
        echo "$case: same ($(wc -l < "$results/bash") lines, $(grep -a '^status ' "$results/bash" | tail -n 1))"
    else
        failed=1
        echo "$case: DIFFERENT"
        diff -a "$results/bash" "$results/rush" | head -n "${LINES_SHOWN:-20}"
    fi
done
exit $failed

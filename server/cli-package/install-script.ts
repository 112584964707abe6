import { AppError } from '../errors.ts'
import { VERSION } from '../version.ts'

/**
 * An origin that is safe in a script: a scheme, a name of letters, digits, dots and hyphens or an address, and a port. Browsers
 * take names with quotes and semicolons for hosts, too.
 */
const SAFE_ORIGIN = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/

/**
 * The script that installs the client on a computer without npm, from the server at `origin`, with the package's digest. Throws
 * `invalid_request` for an origin that does not belong into a script.
 */
export function installScript(origin: string, sha256: string): string {
  if (!SAFE_ORIGIN.test(origin))
    throw new AppError('invalid_request', 'Host: must be a name of letters, digits, dots and hyphens')
  return SCRIPT.replaceAll('@url@', origin).replace('@sha256@', sha256).replace('@version@', VERSION)
}

/** Everything is in functions, so that nothing of a script that is cut off runs. */
const SCRIPT = `#!/bin/sh
# Installs deployer, the command line of Deployer: from @url@ to ~/.local/share/deployer and ~/.local/bin.
set -eu

url='@url@'
sha256='@sha256@'
version='@version@'

fail() {
  echo "deployer: $1" >&2
  exit 1
}

# Node, which runs deployer, also computes the digest: its command has another name on each system.
digest() {
  node -e 'process.stdout.write(require("crypto").createHash("sha256").update(require("fs").readFileSync(process.argv[1])).digest("hex"))' "$1"
}

# The certificates of an authority of your own are named as for the client.
download() {
  ca="\${DEPLOYER_CA_FILE:-}"
  if command -v curl >/dev/null 2>&1; then curl -fsS \${ca:+--cacert "$ca"} -o "$1" "$url/cli.tgz"
  elif command -v wget >/dev/null 2>&1; then wget -q \${ca:+--ca-certificate="$ca"} -O "$1" "$url/cli.tgz"
  else fail 'it needs curl or wget'
  fi
}

install_deployer() {
  command -v node >/dev/null 2>&1 || fail 'it needs Node 24.7 or newer: https://nodejs.org'
  node -e 'var v = process.versions.node.split("."); process.exit(v[0] > 24 || (v[0] == 24 && v[1] >= 7) ? 0 : 1)' ||
    fail "it needs Node 24.7 or newer, and this is $(node --version): https://nodejs.org"
  [ -n "\${HOME:-}" ] || fail 'HOME is not set'
  root="$HOME/.local/share/deployer"
  bin="$HOME/.local/bin"
  target="$root/$version"
  if [ -e "$bin/deployer" ] && [ ! -L "$bin/deployer" ]; then
    fail "$bin/deployer is not a link; move it away first"
  fi
  # Only the user: a server of this user may keep its data in the same folder.
  (umask 077 && mkdir -p "$root")
  mkdir -p "$bin"
  work=$(mktemp -d "$root/.install.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  # deployer upgrade has downloaded it, by the way in which it reaches the server.
  if [ -n "\${1:-}" ]; then cp "$1" "$work/cli.tgz"
  else download "$work/cli.tgz" || fail "no package from $url/cli.tgz"
  fi
  [ "$(digest "$work/cli.tgz")" = "$sha256" ] ||
    fail "the package from $url/cli.tgz is not the one that this script was made for; try again"
  tar -xzf "$work/cli.tgz" -C "$work"
  before=$(readlink "$bin/deployer" || true)
  if [ -e "$target" ]; then mv "$target" "$work/replaced"; fi
  mv "$work/package" "$target"
  ln -s "$target/deployer.mjs" "$work/deployer"
  mv -f "$work/deployer" "$bin/deployer"
  # Another version that this script installed before is of no more use.
  case "$before" in
    "$target/deployer.mjs") ;;
    "$root"/*/deployer.mjs) rm -rf "\${before%/deployer.mjs}" ;;
  esac
  echo "deployer $version is installed as $bin/deployer"
  case ":$PATH:" in
    *":$bin:"*) ;;
    *) echo "$bin is not in PATH; add this line to the profile of your shell: export PATH=\\"\\$HOME/.local/bin:\\$PATH\\"" ;;
  esac
}

install_deployer "$@"
`

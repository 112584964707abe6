import { constants, accessSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run, say } from './run.ts'

/** The programs that tests run and the Debian packages that bring them. */
const PACKAGES: Record<string, string[]> = {
  dockerd: ['docker.io'],
  docker: ['docker-cli', 'docker.io'],
  iptables: ['iptables'],
  nft: ['nftables'],
  mmdebstrap: ['mmdebstrap', 'debian-archive-keyring'],
  'docker-registry': ['docker-registry'],
  ip: ['iproute2'],
  pebble: ['pebble'],
  knotd: ['knot'],
  'swift-proxy-server': ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
  rsyslogd: ['rsyslog'],
  git: ['git'],
  htpasswd: ['apache2-utils'],
  sshd: ['openssh-server'],
  'ssh-keygen': ['openssh-client'],
  zsh: ['zsh'],
  fish: ['fish'],
  busybox: ['busybox-static'],
  openssl: ['openssl'],
  curl: ['curl'],
  h2load: ['nghttp2-client'],
  'chromium-headless-shell': ['chromium-headless-shell'],
  systemctl: ['systemd'],
}

/** Daemons are in the system's folders, which a user's path may lack. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin']

/** What npm puts in front of the path of its scripts: programs of packages, of which one has the name of the system's `nft`. */
const OF_PACKAGES = join('node_modules', '.bin')

/** The full path of a program of the system; null if it is not installed. */
export function findProgram(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.endsWith(OF_PACKAGES))
  for (const folder of [...folders, ...SYSTEM_FOLDERS]) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      continue
    }
  }
  return null
}

/**
 * Installs the Debian packages that the stand needs and the machine lacks, as root, and says so.
 * Throws one line that says what to install when it cannot.
 */
export async function ensurePackages(): Promise<void> {
  const missing = Object.keys(PACKAGES).filter((program) => findProgram(program) === null)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || findProgram('apt-get') === null) {
    const names = [...new Set(missing.flatMap((program) => PACKAGES[program]!))]
    throw new Error(`the test stand lacks ${missing.join(', ')}: as root, apt-get install ${names.join(' ')}`)
  }
  await run('apt-get', ['update', '-qq'])
  const wanted = await installable([...new Set(missing.flatMap((program) => PACKAGES[program]!))])
  say(`installing ${wanted.join(' ')}`)
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...wanted], {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  })
}

/** The packages that this release has: `docker-cli` is a package of its own only in newer ones. */
async function installable(names: string[]): Promise<string[]> {
  // One call for all: reading the package lists takes a second.
  const policy = await run('apt-cache', ['policy', ...names], { env: { LC_ALL: 'C' } })
  return policy
    .split(/^(?=\S)/m)
    .filter((entry) => /^ {2}Candidate: (?!\(none\))/m.test(entry))
    .map((entry) => entry.split(':\n')[0]!)
}

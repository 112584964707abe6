import { existsSync } from 'node:fs'
import { capture, clip, findCommand } from './command.mjs'
import { Refusal, say } from './say.mjs'

/**
 * Installs packages from the distribution.
 *
 * @param {string[]} names
 * @param {{ mayInstall: boolean }} options
 */
export async function installPackages(names, { mayInstall }) {
  if (names.length === 0) return
  const list = names.join(' ')
  const command = `apt-get install -y --no-install-recommends ${list}`
  if (!mayInstall) throw new Refusal(`missing: ${list}. Run ${command}, or omit --no-install`)
  if (!findCommand('apt-get')) {
    throw new Refusal(
      `missing: ${list}. This is not Debian or Ubuntu: install the equivalents of these Debian packages`,
    )
  }
  if (process.getuid?.() !== 0) throw new Refusal(`missing: ${list}. Run sudo ${command}, then this again`)
  say(`installing ${list} from the distribution's packages`)
  await apt(['update'])
  await apt(['install', '-y', '--no-install-recommends', ...names])
}

/** @param {string[]} args */
async function apt(args) {
  const { code, output } = await capture('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (code !== 0) throw new Refusal(`apt-get ${args.join(' ')} failed:\n${clip(output)}`)
}

/** Programs that the server runs, each with the package that contains it. */
const PROGRAMS = [
  ['git', 'git'],
  ['ssh', 'openssh-client'],
]

/**
 * Returns the missing packages that the server's programs and this node need.
 *
 * @param {string} node
 * @returns {Promise<string[]>}
 */
export async function missingPackages(node) {
  const missing = PROGRAMS.filter(([program]) => !findCommand(program ?? '')).map(([, name]) => name ?? '')
  return (await lacksAtomics(node)) ? ['libatomic1', ...missing] : missing
}

/** Where Debian, Ubuntu and others have libatomic. */
export const ATOMICS = [
  '/usr/lib/x86_64-linux-gnu/libatomic.so.1',
  '/usr/lib/aarch64-linux-gnu/libatomic.so.1',
  '/usr/lib64/libatomic.so.1',
  '/usr/lib/libatomic.so.1',
]

/**
 * Node 26 links to libatomic, which a plain Debian does not have.
 *
 * @param {string} node
 */
async function lacksAtomics(node) {
  if (node === process.execPath || ATOMICS.some((file) => existsSync(file))) return false
  const { code, output } = await capture(node, ['--version'])
  if (code === 0) return false
  if (output.includes('libatomic')) return true
  throw new Refusal(`${node} does not run here: ${clip(output)}`)
}

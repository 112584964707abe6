import { spawn } from 'node:child_process'
import { realpathSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ServerInfo } from '#server/info.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import type { Api } from '../api.ts'
import { withApi } from '../with-api.ts'

/** How this program came to this computer; see docs/cli.md. */
type Way = 'npm' | 'script' | 'npx' | 'other'

/** Npm asks its registry for none of these. */
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier']

/** Installs the client of the server's version in the way in which this one was installed. */
export async function upgrade(call: Call): Promise<void> {
  const way = wayOf(realpathSync(process.argv[1]!))
  if (way === 'npx')
    throw new Fault(EXIT.failed, 'npx runs what it is given the address of; there is nothing to upgrade')
  if (way === 'other')
    throw new Fault(
      EXIT.failed,
      `${process.argv[1]} was not installed from a server; a release upgrades the server itself: deployer help upgrade`,
    )
  await withApi(call, async (api) => {
    const { version } = await api.get<ServerInfo>('/info')
    if (version === VERSION)
      return call.out.done(`${VERSION} is the version of ${api.url} already`, { version })
    await install(api, way)
    call.out.done(`${VERSION} was replaced by ${version}`, { version })
  })
}

/** The way in which a program was installed, by its path. */
export function wayOf(path: string): Way {
  if (/[\\/]_npx[\\/]/.test(path)) return 'npx'
  if (/[\\/]node_modules[\\/]deployer-cli[\\/]/.test(path)) return 'npm'
  if (/[\\/]\.local[\\/]share[\\/]deployer[\\/][^\\/]+[\\/]deployer\.mjs$/.test(path)) return 'script'
  return 'other'
}

/** Downloads the package and passes its file on. Downloaded here, it comes the way that this server is reached. */
async function install(api: Api, way: 'npm' | 'script'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'deployer-upgrade-'))
  try {
    const file = join(folder, 'cli.tgz')
    const script = way === 'npm' ? null : await download(api, '/install-cli')
    writeFileSync(file, await download(api, '/cli.tgz'))
    if (script === null) await run('npm', ['install', '--global', ...QUIET, file], null)
    else await run('sh', ['-s', '--', file], script)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function download(api: Api, path: string): Promise<Buffer> {
  const answer = await api.raw({ method: 'GET', path })
  if (answer.statusCode !== 200) throw await api.faultOf(answer)
  return buffer(answer)
}

/** Runs a program to its end; what it prints goes to standard error. */
async function run(command: string, args: readonly string[], input: Buffer | null): Promise<void> {
  const child = spawn(command, args, { stdio: ['pipe', process.stderr, process.stderr] })
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? undefined)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve).once('error', reject)
  })
  if (code !== 0) throw new Fault(EXIT.failed, `${command} ended with ${code}; nothing else was changed`)
}

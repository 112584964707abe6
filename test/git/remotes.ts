import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CLEAN, PRIVATE_USER, serveGit } from './smart-http.ts'

export { PRIVATE_USER } from './smart-http.ts'

/** Longest wait for a server to take connections. */
const START_TIMEOUT_MS = 60_000

/** Real git remotes over one folder of repositories. Close ends every server and removes the folder. */
export interface Remotes {
  directory: string
  http: string
  /** Requires the user `ci` with the password `pa ss:1`. */
  privateHttp: string
  /** Those of the protocols that they were started for. */
  readonly git: string
  readonly ssh: string
  /** A private key that the ssh remote accepts. */
  sshKeyFile: string
  /** Paths that were requested from the http remotes, with the Authorization header of each. */
  requests: { path: string; authorization: string | null }[]
  close(): Promise<void>
}

export const PRIVATE_PASSWORD = 'pa ss:1'

/** Where the ssh remote keeps its own files, in the folder of the remotes. */
const SSH_SERVER = '.ssh-server'

/** Allows git to connect anywhere: the remotes are on loopback. */
export const ANYWHERE = { denyPrivate: false, ownPort: null }

const AUTHOR = [
  '-c',
  'user.name=Ada',
  '-c',
  'user.email=ada@example.test',
  '-c',
  'protocol.file.allow=always',
]

/** Runs git as a developer would; returns its output. */
export function git(directory: string, ...command: string[]): string {
  return execFileSync('git', [...AUTHOR, '-C', directory, ...command], {
    env: CLEAN,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
    .toString()
    .trim()
}

/** What git writes for `git init --bare`, with settings that skip the housekeeping of old repositories. */
const CONFIGURATION = `[core]
\tbare = true
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tdenyCurrentBranch = ignore
`

/**
 * A repository `<name>.git` among the remotes, and a working copy to commit from. That is a linked one (git-worktree(1)):
 * what is committed in it is in the repository at once, and a push to `origin` comes back to where it came from. Both are
 * written as git would, which takes no process.
 */
export class Repository {
  readonly bare: string
  readonly work: string
  /** git's own folder of the working copy. */
  readonly #gitDirectory: string

  constructor(remotes: Remotes, name: string, format: 'sha1' | 'sha256' = 'sha1') {
    this.bare = join(remotes.directory, `${name}.git`)
    this.work = join(remotes.directory, `.work-${name}`)
    this.#gitDirectory = join(this.bare, 'worktrees/work')
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'worktrees/work'])
      mkdirSync(join(this.bare, folder), { recursive: true })
    mkdirSync(this.work, { recursive: true })
    const version = format === 'sha1' ? 0 : 1
    const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`
    const origin = `[remote "origin"]\n\turl = ${this.bare}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`
    const configuration = CONFIGURATION.replace('\n', `\n\trepositoryFormatVersion = ${version}\n`)
    writeFileSync(join(this.bare, 'config'), configuration + extensions + origin)
    for (const head of [this.bare, this.#gitDirectory]) writeFileSync(join(head, 'HEAD'), headOf('main'))
    writeFileSync(join(this.#gitDirectory, 'commondir'), '../..\n')
    writeFileSync(join(this.#gitDirectory, 'gitdir'), `${join(this.work, '.git')}\n`)
    writeFileSync(join(this.work, '.git'), `gitdir: ${this.#gitDirectory}\n`)
  }

  /** Writes files and commits them to a branch, which the remotes then have; returns the commit. */
  push(files: Record<string, string>, message = 'change', branch = 'main'): string {
    if (readFileSync(join(this.#gitDirectory, 'HEAD'), 'utf8') !== headOf(branch))
      git(this.work, 'checkout', '-q', '-B', branch)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.work, name)), { recursive: true })
      writeFileSync(join(this.work, name), content)
    }
    git(this.work, 'add', '-A')
    git(this.work, 'commit', '-q', '--allow-empty', '-m', message)
    return readFileSync(join(this.bare, 'refs/heads', branch), 'utf8').trim()
  }
}

function headOf(branch: string): string {
  return `ref: refs/heads/${branch}\n`
}

/** Starts remotes over HTTP, and over the named other protocols, each of which needs a server of its own. */
export async function startRemotes(further: readonly ('git' | 'ssh')[] = []): Promise<Remotes> {
  const directory = mkdtempSync(join(tmpdir(), 'remotes-'))
  const requests: Remotes['requests'] = []
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push({ path: request.url!, authorization: request.headers.authorization ?? null })
    serveGit(request, response, directory)
  }
  const open = createServer(serve)
  const guarded = createServer((request, response) => {
    const wanted = `Basic ${Buffer.from(`${PRIVATE_USER}:${PRIVATE_PASSWORD}`).toString('base64')}`
    if (request.headers.authorization === wanted) return serve(request, response)
    requests.push({ path: request.url!, authorization: request.headers.authorization ?? null })
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  for (const server of [open, guarded])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = (server: typeof open): number => (server.address() as AddressInfo).port
  const own = {
    git: further.includes('git') ? await startDaemon(directory) : null,
    ssh: further.includes('ssh') ? await startSsh(directory) : null,
  }
  const served = Object.values(own).filter((server) => server !== null)
  await Promise.all(served.map((server) => waitFor(server.port)))
  const started = (protocol: 'git' | 'ssh'): number => {
    const server = own[protocol]
    if (server === null) throw new Error(`these remotes were not started for ${protocol}`)
    return server.port
  }
  return {
    directory,
    http: `http://127.0.0.1:${port(open)}`,
    privateHttp: `http://127.0.0.1:${port(guarded)}`,
    get git() {
      return `git://127.0.0.1:${started('git')}`
    },
    get ssh() {
      return `ssh://root@127.0.0.1:${started('ssh')}${directory}`
    },
    sshKeyFile: join(directory, SSH_SERVER, 'client'),
    requests,
    async close() {
      for (const { child } of served) await end(child)
      for (const server of [open, guarded]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

interface OwnServer {
  child: ChildProcess
  port: number
}

async function startDaemon(directory: string): Promise<OwnServer> {
  const port = await freePort()
  const flags = ['--reuseaddr', '--export-all', `--base-path=${directory}`, '--listen=127.0.0.1']
  const child = spawn('git', ['daemon', ...flags, `--port=${port}`], {
    env: CLEAN,
    stdio: 'ignore',
    detached: true,
  })
  return { child, port }
}

async function startSsh(directory: string): Promise<OwnServer> {
  const port = await freePort()
  const own = join(directory, SSH_SERVER)
  mkdirSync(own, { mode: 0o700 })
  mkdirSync('/run/sshd', { recursive: true })
  for (const name of ['host', 'client']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(own, name)])
  }
  const key = readFileSync(join(own, 'client.pub'), 'utf8').trim()
  writeFileSync(
    join(own, 'authorized'),
    `command="git-shell -c \\"$SSH_ORIGINAL_COMMAND\\"",restrict ${key}\n`,
  )
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(own, 'host')}`,
    `PidFile ${join(own, 'pid')}`,
    `AuthorizedKeysFile ${join(own, 'authorized')}`,
    'PasswordAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin forced-commands-only',
  ]
  writeFileSync(join(own, 'config'), `${settings.join('\n')}\n`)
  const log = join(own, 'log')
  const child = spawn('/usr/sbin/sshd', ['-D', '-f', join(own, 'config'), '-E', log], {
    stdio: 'ignore',
    detached: true,
  })
  return { child, port }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid!, 'SIGKILL')
  await ended
}

export async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function waitFor(port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await delay(20)
  }
  throw new Error(`nothing listens on port ${port}`)
}

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
  /** Wants the user `ci` with the password `pa ss:1`. */
  privateHttp: string
  git: string
  ssh: string
  /** A private key that the ssh remote takes. */
  sshKeyFile: string
  /** Paths that were asked of the http remotes, with the Authorization header of each. */
  requests: { path: string; authorization: string | null }[]
  close(): Promise<void>
}

export const PRIVATE_PASSWORD = 'pa ss:1'

/** Keeps git off nothing: the remotes are on loopback. */
export const ANYWHERE = { denyPrivate: false, ownPort: null }

const AUTHOR = [
  '-c',
  'user.name=Ada',
  '-c',
  'user.email=ada@example.test',
  '-c',
  'protocol.file.allow=always',
]

/** Runs git as a developer would; answers its output. */
export function git(directory: string, ...command: string[]): string {
  return execFileSync('git', [...AUTHOR, '-C', directory, ...command], {
    env: CLEAN,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
    .toString()
    .trim()
}

/** A repository `<name>.git` among the remotes, and a working copy to commit from. */
export class Repository {
  readonly bare: string
  readonly work: string

  constructor(remotes: Remotes, name: string, format: 'sha1' | 'sha256' = 'sha1') {
    this.bare = join(remotes.directory, `${name}.git`)
    this.work = join(remotes.directory, `.work-${name}`)
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, this.bare], {
      env: CLEAN,
    })
    execFileSync('git', ['init', '-q', '-b', 'main', `--object-format=${format}`, this.work], { env: CLEAN })
    git(this.work, 'remote', 'add', 'origin', this.bare)
  }

  /** Writes files, commits and pushes them to a branch; answers the commit. */
  push(files: Record<string, string>, message = 'change', branch = 'main'): string {
    git(this.work, 'checkout', '-q', '-B', branch)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.work, name)), { recursive: true })
      writeFileSync(join(this.work, name), content)
    }
    git(this.work, 'add', '-A')
    git(this.work, 'commit', '-q', '--allow-empty', '-m', message)
    git(this.work, 'push', '-q', '-f', 'origin', branch)
    return git(this.work, 'rev-parse', 'HEAD')
  }
}

export async function startRemotes(): Promise<Remotes> {
  const directory = mkdtempSync(join(tmpdir(), 'remotes-'))
  const requests: Remotes['requests'] = []
  const children: ChildProcess[] = []
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
  const gitPort = await freePort()
  children.push(
    spawn(
      'git',
      [
        'daemon',
        '--reuseaddr',
        '--export-all',
        `--base-path=${directory}`,
        '--listen=127.0.0.1',
        `--port=${gitPort}`,
      ],
      { env: CLEAN, stdio: 'ignore', detached: true },
    ),
  )
  const ssh = await startSsh(directory)
  children.push(ssh.child)
  await Promise.all([waitFor(gitPort), waitFor(ssh.port)])
  return {
    directory,
    http: `http://127.0.0.1:${port(open)}`,
    privateHttp: `http://127.0.0.1:${port(guarded)}`,
    git: `git://127.0.0.1:${gitPort}`,
    ssh: `ssh://root@127.0.0.1:${ssh.port}${directory}`,
    sshKeyFile: ssh.keyFile,
    requests,
    async close() {
      for (const child of children) await end(child)
      for (const server of [open, guarded]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function startSsh(directory: string): Promise<{ child: ChildProcess; port: number; keyFile: string }> {
  const port = await freePort()
  const own = join(directory, '.ssh-server')
  mkdirSync(own, { mode: 0o700 })
  mkdirSync('/run/sshd', { recursive: true })
  for (const name of ['host', 'client']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(own, name)])
  }
  const key = execFileSync('ssh-keygen', ['-y', '-f', join(own, 'client')])
    .toString()
    .trim()
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
  return { child, port, keyFile: join(own, 'client') }
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

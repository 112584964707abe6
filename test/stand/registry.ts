import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { docker, isAlive } from './engine.ts'
import { findProgram } from './packages.ts'
import { standDirectory, standFolder } from './place.ts'
import { endsWithThis, run } from './run.ts'

const USUAL_PORT = 5000
const START_DEADLINE_MS = 120_000
const POLL_MS = 25

export interface PrivateRegistry {
  /** `127.0.0.1:port`, the host of its image references. */
  host: string
  username: string
  password: string
  /** Pushes an image of the stand's engine under a name of this registry, such as `team/base:1`. */
  push(image: string, name: string): Promise<void>
  close(): Promise<void>
}

/** Starts the stand's open registry on loopback unless it runs; it outlives this process. Returns `127.0.0.1:port`. */
export async function startRegistry(): Promise<string> {
  const directory = standFolder('registry')
  const portFile = join(directory, 'port')
  if (!existsSync(portFile)) writeFileSync(portFile, String(await freePort(USUAL_PORT)))
  const host = `127.0.0.1:${readFileSync(portFile, 'utf8')}`
  if (await answers(host)) return host
  const pid = await serve(host, directory, '')
  writeFileSync(join(directory, 'pid'), String(pid))
  return host
}

/** Stops the stand's registry if it runs. */
export async function stopRegistry(): Promise<void> {
  const pidFile = join(standDirectory(), 'registry', 'pid')
  if (!existsSync(pidFile)) return
  await end(Number(readFileSync(pidFile, 'utf8')))
  rmSync(pidFile)
}

/** An empty registry on a free loopback port that requires a user name and a password, removed by `close`. */
export async function startPrivateRegistry({
  username = 'ci',
  password = 'pa ss',
} = {}): Promise<PrivateRegistry> {
  const directory = mkdtempSync(join(tmpdir(), 'deployer-registry-'))
  const users = join(directory, 'htpasswd')
  // bcrypt (-B) is the only kind that the registry reads; -i reads the password from standard input.
  writeFileSync(users, await run(findProgram('htpasswd')!, ['-Bni', username], { input: password }))
  const host = `127.0.0.1:${await freePort()}`
  const pid = await serve(host, directory, `auth: { htpasswd: { realm: stand, path: ${users} } }\n`)
  return {
    host,
    username,
    password,
    push: (image, name) => push(image, `${host}/${name}`, { username, password }),
    close: async () => {
      await end(pid)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The credentials are in a separate client configuration, which is removed afterwards. */
async function push(
  image: string,
  name: string,
  { username, password }: { username: string; password: string },
): Promise<void> {
  const configuration = mkdtempSync(join(tmpdir(), 'deployer-client-'))
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  const auths = { [name.split('/')[0]!]: { auth } }
  writeFileSync(join(configuration, 'config.json'), JSON.stringify({ auths }), { mode: 0o600 })
  try {
    await docker(['pull', '-q', image])
    await docker(['tag', image, name])
    await docker(['--config', configuration, 'push', '-q', name])
    await docker(['rmi', name])
  } finally {
    rmSync(configuration, { recursive: true, force: true })
  }
}

/** Serves the images of the stand's registry at another address too, as long as this process runs at most. */
export async function serveCopy(host: string, directory: string): Promise<{ close(): Promise<void> }> {
  const pid = await serve(host, directory, '', join(standFolder('registry'), 'data'))
  return { close: () => end(pid) }
}

/** Whether the registry at a host has an image tag. */
export async function hasTag(host: string, repository: string, tag: string): Promise<boolean> {
  const url = `http://${host}/v2/${repository}/manifests/${tag}`
  const accept =
    'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json'
  const response = await fetch(url, { method: 'HEAD', headers: { accept } })
  return response.status === 200
}

async function serve(host: string, directory: string, extra: string, copied?: string): Promise<number> {
  const file = join(directory, 'config.yml')
  const storage = copied ? 'maintenance: { readonly: { enabled: true } }' : 'delete: { enabled: true }'
  writeFileSync(
    file,
    `version: 0.1\nlog: { level: warn }\n` +
      `storage: { filesystem: { rootdirectory: ${copied ?? join(directory, 'data')} }, ${storage} }\n` +
      `http: { addr: '${host}' }\n${extra}`,
  )
  const log = openSync(join(directory, 'registry.log'), 'a', 0o600)
  const command = [findProgram('docker-registry')!, 'serve', file]
  const [program, ...args] = copied ? endsWithThis(command) : command
  const child = spawn(program!, args, {
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.unref()
  const until = performance.now() + START_DEADLINE_MS
  while (!(await answers(host))) {
    if (performance.now() > until || child.exitCode !== null) {
      throw new Error(
        `the registry at ${host} did not start:\n${readFileSync(join(directory, 'registry.log'), 'utf8')}`,
      )
    }
    await delay(POLL_MS)
  }
  return child.pid!
}

async function answers(host: string): Promise<boolean> {
  try {
    const { status } = await fetch(`http://${host}/v2/`)
    return status === 200 || status === 401
  } catch {
    return false
  }
}

async function end(pid: number): Promise<void> {
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  const until = performance.now() + START_DEADLINE_MS
  while (isAlive(pid) && performance.now() < until) await delay(POLL_MS)
}

/** A loopback port that nothing listens on: the wanted one if it is free, else any. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer()
  try {
    server.listen(wanted, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    if (wanted === 0) throw error
    return freePort()
  }
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

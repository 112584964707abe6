import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, isIP, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { EXIT, Fault, wrong } from '../fault.ts'
import type { Server } from './server.ts'
import { httpTransport, type Transport } from './transport.ts'

const DEFAULT_API = '127.0.0.1:7878'
const POLL_EVERY_MS = 20
/** What ssh could take for an option or a token of its configuration is not a host. */
const NAME = /^[A-Za-z0-9._][A-Za-z0-9._-]*$/
const ADDRESS_AND_PORT = /^(?:[\d.]+|\[[\da-fA-F:]+\]|localhost):\d{1,5}$/

/** A host that is reached by the system's ssh, with the user's own configuration. */
export interface SshPlace {
  /** `user@host`, or the host alone. */
  destination: string
  port: string | null
  /** Where the API listens, as seen from that host. */
  api: string
}

/** Reads `ssh://[user@]host[:port][?api=<address:port>]`. Throws Fault for anything else; then no ssh is started. */
export function readPlace(text: string): SshPlace {
  const url = URL.parse(text)
  const user = url ? decodeURIComponent(url.username) : ''
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const isHost = NAME.test(host) || isIP(host) !== 0
  const isWhole = url && !url.password && !url.hash && (url.pathname === '' || url.pathname === '/')
  const api = url?.searchParams.get('api') ?? DEFAULT_API
  const isKnown = url ? [...url.searchParams.keys()].every((name) => name === 'api') : false
  if (!isWhole || !isHost || (user !== '' && !NAME.test(user)) || !isKnown || !ADDRESS_AND_PORT.test(api))
    throw wrong('an ssh server is written ssh://[user@]host[:port][?api=<address:port>]')
  return { destination: user === '' ? host : `${user}@${host}`, port: url.port || null, api }
}

/** The words for ssh that reach a place; what it does there comes after them. */
function wordsFor({ destination, port }: SshPlace, options: readonly string[]): string[] {
  // Without a terminal nobody can answer a question of ssh.
  const batch = process.stdin.isTTY ? [] : ['-o', 'BatchMode=yes']
  return [...options, ...batch, ...(port === null ? [] : ['-p', port]), '--', destination]
}

/** Reaches the API of an ssh server through a socket of its own, for as long as the command runs. */
export async function sshTransport({ url, caFile }: Server, call: Call): Promise<Transport> {
  const place = readPlace(url)
  if (process.platform === 'win32') {
    const forward = await forwardPort(place, place.api, call)
    return { ...httpTransport({ url: forward.url, caFile }), url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'deployer-'))
  const socket = join(folder, 'api')
  const close = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', close)
  const ssh = await startForward(place, `${socket}:${place.api}`, () => existsSync(socket), call)
  const transport = httpTransport({ url: 'http://localhost', caFile }, socket)
  return {
    ...transport,
    url,
    close: () => {
      transport.close()
      ssh.kill()
      close()
    },
  }
}

/** Brings an address that the ssh server reaches to a free port of this computer. */
export async function forwardPort(
  place: SshPlace,
  address: string,
  call: Call,
): Promise<{ url: string; port: number; close: () => void }> {
  const port = await freePort()
  const ssh = await startForward(place, `127.0.0.1:${port}:${address}`, () => isTaken(port), call)
  return { url: `http://127.0.0.1:${port}`, port, close: () => void ssh.kill() }
}

/** Starts ssh with a forwarding and waits until it listens. What ssh says goes to standard error. */
async function startForward(
  place: SshPlace,
  forward: string,
  isReady: () => boolean | Promise<boolean>,
  call: Call,
): Promise<ChildProcess> {
  const options = ['-N', '-o', 'ExitOnForwardFailure=yes', '-o', 'StreamLocalBindMask=0177', '-L', forward]
  const words = wordsFor(place, options)
  if (call.has('debug')) process.stderr.write(`ssh ${words.join(' ')}\n`)
  const ssh = spawn('ssh', words, { stdio: ['inherit', 'ignore', 'inherit'] })
  let failure: Fault | null = null
  ssh.once(
    'error',
    (error) => (failure = new Fault(EXIT.noConnection, `ssh cannot be started: ${error.message}`)),
  )
  ssh.once('exit', (code) => {
    failure ??= new Fault(
      EXIT.noConnection,
      `ssh to ${place.destination} ended with ${code}; try: ssh ${place.destination}`,
    )
  })
  process.once('exit', () => ssh.kill())
  while (!(await isReady())) {
    if (failure) throw failure as Fault
    await delay(POLL_EVERY_MS)
  }
  // The command ends when it is done, not when ssh does.
  ssh.unref()
  return ssh
}

/** Runs `deployer` on an ssh server and returns what it printed; null if it was refused there. */
export async function runThere(place: SshPlace, words: readonly string[]): Promise<string | null> {
  const ssh = spawn('ssh', [...wordsFor(place, ['-T']), 'deployer', ...words.map(quoted)], {
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  let text = ''
  ssh.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const code = await new Promise((resolve) => ssh.once('close', resolve).once('error', () => resolve(null)))
  return code === 0 ? text : null
}

/** A word for the shell that ssh starts on the other side. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(port))
      })
  })
}

/** Whether something listens at a loopback port. Tried by listening: a connection would go to the other side. */
function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(true))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(false)))
  })
}

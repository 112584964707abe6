import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { EXIT, Fault } from '../fault.ts'
import type { Server } from './server.ts'
import { readPlace, type SshPlace } from './ssh-place.ts'
import { httpTransport, type Transport } from './transport.ts'

const POLL_EVERY_MS = 20
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
  const ssh = spawn(...keptAtCtrlC('ssh', words), { stdio: ['inherit', 'ignore', 'inherit'] })
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

/**
 * A program that Ctrl-C does not end, although the terminal sends it to all programs in front: a command may still have to ask
 * the server something, such as to cancel a job. ssh keeps ignoring what it was started with ignored.
 */
function keptAtCtrlC(command: string, words: readonly string[]): [string, string[]] {
  if (process.platform === 'win32') return [command, [...words]]
  return ['sh', ['-c', `trap '' INT QUIT; exec "$0" "$@"`, command, ...words]]
}

/** Runs `deployer` on an ssh server and returns what it printed; null if it was refused there. */
export async function runThere(place: SshPlace, words: readonly string[]): Promise<string | null> {
  const ssh = spawn('ssh', [...wordsFor(place, ['-T']), 'deployer', ...words.map(quoted)], {
    stdio: ['ignore', 'pipe', 'inherit'],
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

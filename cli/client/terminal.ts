import { spawnSync } from 'node:child_process'
import type { WebSocket } from 'ws'
import type { Shell } from '#server/shells/schema.ts'
import { EXIT, Fault } from '../fault.ts'
import type { Api } from './api.ts'
import { keepAlive, socketOf } from './socket.ts'

const PROTOCOL = 'deployer.shell.v1'
/** What may wait for a slow connection before what is typed, or pasted, is read no further. */
const HELD_BYTES = 256 * 1024
/** The server takes no more. */
const MAX_LINES = 1_000
/** 128 plus the number of SIGHUP. */
const HUNG_UP = 129
const ENDED = 1000

/** The size of a terminal, as the server takes it. */
export function sizeOf({ rows, columns }: Pick<NodeJS.WriteStream, 'rows' | 'columns'>): {
  rows: number
  cols: number
} {
  const bounded = (lines: number, usual: number) => Math.min(lines || usual, MAX_LINES)
  return { rows: bounded(rows, 24), cols: bounded(columns, 80) }
}

/**
 * Connects this terminal with a shell until it ends, and puts the terminal back as it was, however that happens. Resolves with
 * the program's exit code. Throws Fault if the shell is refused, or closed before its program has ended.
 */
export async function useTerminal(api: Api, { path, ticket }: Shell): Promise<number> {
  const { socket, opened } = socketOf(api, path, { ticket }, PROTOCOL)
  await opened
  keepAlive(socket)
  const { stdin, stdout } = process
  const modes = new Modes()
  const restore = (): void => {
    stdin.setRawMode(false)
    stdout.write(modes.reset())
  }
  // Signals end this program by way of its exit.
  process.once('exit', restore)
  process.once('SIGHUP', () => process.exit(HUNG_UP))
  stdin.setRawMode(true)
  keepLineFeeds()
  const resized = (): void => {
    const { rows, cols } = sizeOf(stdout)
    socket.send(JSON.stringify({ resize: [rows, cols] }))
  }
  stdout.on('resize', resized)
  let isCut = true
  try {
    const exitCode = await passed(socket, modes)
    isCut = false
    return exitCode
  } finally {
    stdout.off('resize', resized)
    process.off('exit', restore)
    restore()
    stdin.pause()
    // The cursor may be anywhere in a line, and the reason comes next.
    if (isCut) stdout.write('\n')
  }
}

/**
 * Has the terminal take a line feed as it is: programs of a whole screen move down with it, not to the next line. Node's raw
 * mode leaves that on, and puts back all of what was before it.
 */
function keepLineFeeds(): void {
  if (process.platform === 'win32') return
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

/** Passes bytes both ways until the shell is closed. */
function passed(socket: WebSocket, modes: Modes): Promise<number> {
  const { stdin, stdout } = process
  let exitCode: number | null = null
  const type = (bytes: Buffer): void => {
    socket.send(bytes, () => {
      if (socket.bufferedAmount <= HELD_BYTES) stdin.resume()
    })
    if (socket.bufferedAmount > HELD_BYTES) stdin.pause()
  }
  const drained = (): void => socket.resume()
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    if (!isBinary) exitCode = (JSON.parse(bytes.toString()) as { exit_code?: number }).exit_code ?? null
    else {
      modes.heed(bytes)
      if (!stdout.write(bytes)) socket.pause()
    }
  })
  stdout.on('drain', drained)
  stdin.on('data', type)
  socket.resume()
  return new Promise((resolve, reject) => {
    socket.once('close', (code, reason) => {
      stdin.off('data', type)
      stdout.off('drain', drained)
      if (code === ENDED && exitCode !== null) resolve(exitCode)
      else
        reject(
          new Fault(
            EXIT.noConnection,
            `the shell was closed: ${String(reason) || 'the connection was lost'}`,
          ),
        )
    })
  })
}

/**
 * What a program has changed of the terminal (DECSET, "XTerm Control Sequences"), and has had no time to change back when it
 * ends by force.
 */
class Modes {
  readonly #set = new Set<string>()
  /** Whether the cursor is hidden. */
  #isHidden = false

  /** Takes note of what is printed. */
  heed(bytes: Buffer): void {
    for (const [, modes, to] of bytes.toString('latin1').matchAll(/\u001b\[\?([\d;]{1,40})([hl])/g))
      for (const mode of modes!.split(';')) this.#change(mode, to === 'h')
  }

  /** What puts the terminal back. */
  reset(): string {
    const modes = [...this.#set].map((mode) => `\u001b[?${mode}l`)
    return [
      ...modes,
      ...(this.#isHidden ? ['\u001b[?25h'] : []),
      ...(modes.length > 0 ? ['\u001b[0m'] : []),
    ].join('')
  }

  #change(mode: string, isSet: boolean): void {
    if (mode === '25') this.#isHidden = !isSet
    else if (!REVERSIBLE.has(mode)) return
    else if (isSet) this.#set.add(mode)
    else this.#set.delete(mode)
  }
}

/** Keys of the cursor; the mouse and the focus, as they are reported; the other screen; pasting in brackets. */
const REVERSIBLE = new Set([
  '1',
  '47',
  '1000',
  '1002',
  '1003',
  '1004',
  '1005',
  '1006',
  '1015',
  '1047',
  '1049',
  '2004',
])

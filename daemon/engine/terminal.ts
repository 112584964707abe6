import type { Duplex } from 'node:stream'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import type { ContainerFinder } from './container-finder.ts'
import { Exec } from './execs.ts'
import { explain, lacksShell } from './faults.ts'

/** How long the program may take to say who it is, on a busy host. */
const BEGIN_WITHIN_MS = 30_000
/** A process id and the end of the line; longer is the engine's message about why it did not start. */
const MAX_LINE_BYTES = 4 * 1024

/**
 * Says which process it is, waits for a line, and becomes the program of its arguments. A program that begins in a terminal of
 * no size, as older engines give it, may ask the terminal for it and read what is typed as the answer.
 */
const LEADER = 'echo $$; read -r _ && exec "$@"'

/**
 * Waits until its input ends, and then ends everything in the session of the process that it is given: as a terminal that is
 * closed does, and whatever is left a second later by force. The fields of proc_pid_stat(5) after the name, which ends with the
 * last parenthesis, are state, parent, group and session.
 */
const LIFELINE = `
while read -r _; do :; done
leader=$1
for signal in HUP KILL; do
  for file in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$file" || continue
    pid=\${file#/proc/}
    set -- \${line##*) }
    [ "$4" = "$leader" ] && kill -s $signal "\${pid%/stat}" 2>/dev/null
  done
  [ $signal = KILL ] || sleep 1
done`

export interface TerminalSpec {
  command: string[]
  env: Record<string, string>
  rows: number
  cols: number
}

/** A program with a terminal of its own, in a container of this server. */
export interface Terminal {
  /** What is typed and what is printed, as bytes. It ends with the program. */
  readonly stream: Duplex
  /** Throws `runtime_error`. */
  resize(rows: number, cols: number): Promise<void>
  /** Waits for the program's end and returns its exit code; null if it ended with its container. Throws `runtime_error`. */
  end(): Promise<number | null>
  /** Ends the program, and all that it started in its terminal. */
  close(): void
}

/**
 * Starts a program in a terminal. The engine lets a program run on when the connection to it breaks. So a second program, the
 * lifeline, runs next to it in the container: its input ends with the connection, even if this server is killed, and then it
 * ends the first. Returns null if the image has no `/bin/sh`. Throws `runtime_error`.
 */
export async function openTerminal(
  connection: Connection,
  finder: ContainerFinder,
  container: string,
  { command, env, rows, cols }: TerminalSpec,
): Promise<Terminal | null> {
  const open = new AbortController()
  const start = (line: string[], more: { env?: Record<string, string>; terminal?: [number, number] } = {}) =>
    Exec.start(connection, finder, container, { command: ['/bin/sh', '-c', ...line], ...more }, open.signal)
  const { exec, socket } = await start([LEADER, 'sh', ...command], { env, terminal: [rows, cols] })
  // Whoever uses it sees its end; an error before that must not end the server.
  socket.on('error', () => {})
  try {
    const line = await nextLine(socket)
    if (!/^\d+$/.test(line)) {
      if (lacksShell(line)) return null
      throw new AppError('runtime_error', `a shell in ${container} could not be started: ${explain(line)}`)
    }
    const lifeline = await start([LIFELINE, 'deployer-shell', line])
    lifeline.socket.on('error', () => {}).resume()
    // Where the size could not be given at the start.
    await exec.resize(rows, cols).catch(() => {})
    socket.write('\n')
    // The terminal prints what is typed into it.
    await nextLine(socket)
    return {
      stream: socket,
      resize: (...size) => exec.resize(...size),
      end: () => exec.end(open.signal),
      close: () => {
        open.abort()
        socket.destroy()
        lifeline.socket.destroy()
      },
    }
  } catch (error) {
    open.abort()
    socket.destroy()
    throw error
  }
}

/** Reads the next line that a program prints, without its end; what was read behind it stays to be read. */
function nextLine(socket: Duplex): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0)
    const timer = setTimeout(
      () => done(new AppError('runtime_error', 'the shell did not begin in time: try again')),
      BEGIN_WITHIN_MS,
    )
    const look = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null)
        read = Buffer.concat([read, chunk])
      const end = read.indexOf('\n')
      if (end >= 0 || read.length > MAX_LINE_BYTES) done()
    }
    const done = (fault?: Error): void => {
      clearTimeout(timer)
      socket.off('readable', look).off('end', ended).off('close', ended)
      if (fault) return reject(fault)
      const end = read.indexOf('\n')
      if (end >= 0 && end + 1 < read.length) socket.unshift(read.subarray(end + 1))
      resolve(read.toString('utf8', 0, end < 0 ? read.length : end).trim())
    }
    const ended = (): void => done()
    socket.on('readable', look).on('end', ended).on('close', ended)
  })
}

import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { controlSocketFile } from '#proxy/control/paths.ts'

const POLL_MS = 25

/**
 * Connects standard input and output to the control socket of an entry's data plane, for which it waits so many milliseconds.
 * Ends when either of them ends. Throws the error of connect(2) when nothing listens there in time.
 */
export async function dial(folder: string, patienceMs: number): Promise<void> {
  const socket = await reach(controlSocketFile(folder), patienceMs)
  const leave = (): never => process.exit()
  socket.on('error', leave).on('close', leave)
  process.stdout.on('error', leave)
  process.stdin.pipe(socket).pipe(process.stdout)
}

async function reach(path: string, patienceMs: number): Promise<Socket> {
  for (const began = performance.now(); ; await delay(POLL_MS)) {
    const socket = connect(path)
    const fault = await new Promise<Error | null>((resolve) => {
      socket.once('connect', () => resolve(null)).once('error', resolve)
    })
    if (!fault) return socket.removeAllListeners('error')
    if (performance.now() - began > patienceMs) throw fault
  }
}

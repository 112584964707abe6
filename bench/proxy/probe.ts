// Asks a host for its page about once a millisecond over kept-alive connections, until its input ends; prints when
// each request was due and how long its answer took after that. A process of its own, as the control plane that has
// its table replaced is busy itself.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const INTERVAL_MS = 1
const CONNECTIONS = 16
/** Requests that are kept: a minute's. */
const MAX_WAITS = 60_000

/** A request that was answered: milliseconds since 1970 when it was due, and how long it waited. */
export interface Wait {
  at: number
  ms: number
}

if (import.meta.main) await main(Number(process.argv[2]), process.argv[3]!)

async function main(port: number, host: string): Promise<void> {
  const request = `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const free: Socket[] = []
  const waits: Wait[] = []
  const due = new Map<Socket, number>()
  for (let index = 0; index < CONNECTIONS; index++) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.setNoDelay(true)
    free.push(socket)
    socket.on('data', (answer) => {
      const at = due.get(socket)
      // The rest of an answer that came in two pieces.
      if (at === undefined) return
      if (!answer.toString('latin1', 0, 12).endsWith('200')) fail('an answer was not 200')
      due.delete(socket)
      free.push(socket)
      if (waits.length < MAX_WAITS)
        waits.push({ at: performance.timeOrigin + at, ms: performance.now() - at })
    })
    socket.on('close', () => fail('a connection was closed'))
  }
  process.stdin.on('end', () => {
    process.stdout.write(JSON.stringify(waits), () => process.exit(0))
  })
  process.stdin.resume()
  let next = performance.now()
  setInterval(() => {
    // A request that has to wait for a connection waits from when it was due.
    for (; next <= performance.now() && free.length > 0; next += INTERVAL_MS) {
      const socket = free.shift()!
      due.set(socket, next)
      socket.write(request)
    }
  }, INTERVAL_MS)
}

function fail(message: string): void {
  console.error(message)
  process.exit(1)
}

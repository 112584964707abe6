// Requests a page of a host about once a millisecond over kept-alive connections, until its input ends. Then prints when
// each request was due and how long the answer took from then on. It is a process of its own, because the control plane that
// replaces the table is busy itself.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const INTERVAL_MS = 1
const CONNECTIONS = 16
/** Max recorded requests: those of one minute. */
const MAX_WAITS = 60_000

/** An answered request: when it was due, in milliseconds since 1970, and how long it waited. */
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
    // The wait of a request that finds no free connection also begins when it was due.
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

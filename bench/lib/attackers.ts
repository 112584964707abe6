// Unauthenticated clients that send endless bodies, on a thread of their own so that they do not disturb the measurement.
import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'

/** What each of many connections sends. */
export interface Attack {
  port: number
  connections: number
  /** Lines of the request's head; none for a connection that sends nothing. */
  head: string[]
  /** Sent after the head. */
  piece: string
  /** Whether the piece is sent repeatedly. */
  repeats: boolean
}

/** The wait before a refused attacker connects again. */
const PAUSE_MS = 100

const attack = workerData as Attack
for (let count = 0; count < attack.connections; count++) attackOnce()

function attackOnce(): void {
  const socket = connect(attack.port, '127.0.0.1')
  const send = () => {
    while (attack.repeats && !socket.destroyed && socket.write(attack.piece));
  }
  socket.on('connect', () => {
    if (attack.head.length === 0) return
    socket.write(`${attack.head.join('\r\n')}\r\n\r\n${attack.piece}`)
    send()
  })
  socket.on('drain', send)
  socket.resume()
  socket.on('error', () => {})
  socket.on('close', () => setTimeout(attackOnce, PAUSE_MS))
}

import { createSocket } from 'node:dgram'
import { connect, isIP } from 'node:net'
import { crypto } from '../modules.ts'
import { answers, codeOf, framed, isTruncated, RCODE, unframe, withId, type Query } from './message.ts'

/** The engine's own resolver, which asks on behalf of containers, gives up after 4 s: time for three servers. */
const ATTEMPT_MS = 1_300
/** Max questions to the host's servers at a time: each is a socket of this process. */
const MAX_PENDING = 512
/** The same for one client, so that none can use up all of them. */
const MAX_PENDING_OF_ONE = 64

export type Transport = 'udp' | 'tcp'

/** Asks the host's name servers about names that no zone has. */
export class Forwarder {
  #pending = 0
  #pendingOf = new Map<string, number>()
  #port: number

  constructor(port = 53) {
    this.#port = port
  }

  /**
   * Returns the first server's answer that settles the question, over the same transport; null without one, or if too many
   * are pending.
   */
  async ask(
    message: Buffer,
    query: Query,
    servers: readonly string[],
    transport: Transport,
    source: string,
  ): Promise<Buffer | null> {
    const ofSource = this.#pendingOf.get(source) ?? 0
    if (this.#pending >= MAX_PENDING || ofSource >= MAX_PENDING_OF_ONE) return null
    this.#pending++
    this.#pendingOf.set(source, ofSource + 1)
    try {
      return await this.#askEach(message, query, servers, transport)
    } finally {
      this.#pending--
      const left = this.#pendingOf.get(source)! - 1
      if (left === 0) this.#pendingOf.delete(source)
      else this.#pendingOf.set(source, left)
    }
  }

  async #askEach(
    message: Buffer,
    query: Query,
    servers: readonly string[],
    transport: Transport,
  ): Promise<Buffer | null> {
    let last: Buffer | null = null
    for (const server of servers) {
      // A new id and a new port for each question: an attacker that did not see it cannot answer it (RFC 5452).
      const id = crypto().randomInt(0x10000)
      const asked = withId(message, id)
      const isAnswer = (answer: Buffer) => answers(answer, id, query.question)
      const answer = await (transport === 'udp' ? askUdp : askTcp)(asked, server, this.#port, isAnswer)
      if (!answer) continue
      last = withId(answer, query.id)
      const isFinal = codeOf(answer) !== RCODE.failure && codeOf(answer) !== RCODE.refused
      if (isFinal || isTruncated(answer)) return last
    }
    return last
  }
}

type Check = (answer: Buffer) => boolean

function askUdp(message: Buffer, server: string, port: number, isAnswer: Check): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = createSocket(isIP(server) === 6 ? 'udp6' : 'udp4')
    let isSettled = false
    const settle = (answer: Buffer | null) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      socket.close()
      resolve(answer)
    }
    const timer = setTimeout(() => settle(null), ATTEMPT_MS)
    socket.on('error', () => settle(null))
    socket.on('message', (answer) => isAnswer(answer) && settle(answer))
    // A connected socket receives only from this server, and learns if nothing listens there.
    socket.connect(port, server, (fault?: Error) => {
      if (fault) settle(null)
      else if (!isSettled) socket.send(message, (error) => error && settle(null))
    })
  })
}

function askTcp(message: Buffer, server: string, port: number, isAnswer: Check): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: server, port })
    let bytes: Buffer = Buffer.alloc(0)
    const settle = (answer: Buffer | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => settle(null), ATTEMPT_MS)
    socket.on('error', () => settle(null))
    socket.on('close', () => settle(null))
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece])
      const frame = unframe(bytes)
      if (frame) settle(isAnswer(frame.message) ? frame.message : null)
    })
    socket.write(framed(message))
  })
}

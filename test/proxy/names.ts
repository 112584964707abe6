import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { NameZone } from '../../proxy/protocol.ts'

/** A client without an answer waits this long. */
const PATIENCE_MS = 8_000

/** A zone of a loopback network, which needs no engine: `127.20.0.0/20` for 20. */
export function loopbackZone(network: number, names: Record<string, string[]>): NameZone {
  return { subnet: `127.${network}.0.0/20`, gateway: `127.${network}.0.1`, names }
}

export const TYPE = { a: 1, txt: 16, aaaa: 28 }

/** A question on the wire. */
export function question(name: string, type = TYPE.a, { id = 7, edns = false } = {}): Buffer {
  const head = Buffer.from([id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, edns ? 1 : 0])
  const labels = name === '' ? [] : name.replace(/\.$/, '').split('.')
  const wire = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]),
  )
  const options = edns ? Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]) : Buffer.alloc(0)
  return Buffer.concat([head, ...wire, Buffer.from([0, 0, type, 0, 1]), options])
}

export interface Answer {
  code: number
  truncated: boolean
  /** IPv4 addresses and how long each may be kept. */
  addresses: string[]
  ttl: number | null
  bytes: number
}

/** The content of an answer to a question without compression. */
export function readAnswer(message: Buffer): Answer {
  let at = 12
  while (message[at] !== 0 && at < message.length) at += message[at]! + 1
  at += 5
  const addresses: string[] = []
  let ttl: number | null = null
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    ttl = message.readUInt32BE(at + 6)
    addresses.push([...message.subarray(at + 12, at + 16)].join('.'))
    at += 16
  }
  return {
    code: message[3]! & 15,
    truncated: (message[2]! & 2) !== 0,
    addresses,
    ttl,
    bytes: message.length,
  }
}

/** Sends bytes over UDP from an address and returns what comes back. */
export async function askUdp(
  from: string,
  to: string,
  message: Buffer,
  patienceMs = PATIENCE_MS,
): Promise<Buffer> {
  const socket = createSocket('udp4')
  const late = setTimeout(() => socket.emit('error', new Error(`${to} does not answer`)), patienceMs)
  try {
    socket.bind(0, from)
    await once(socket, 'listening')
    const answered = once(socket, 'message') as Promise<[Buffer]>
    socket.send(message, 53, to)
    return (await answered)[0]
  } finally {
    clearTimeout(late)
    socket.close()
  }
}

/** The same over TCP, all messages on one connection. */
export async function askTcp(from: string, to: string, ...messages: Buffer[]): Promise<Buffer[]> {
  const socket = connect({ host: to, port: 53, localAddress: from })
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`${to} does not answer`)))
  const answers: Buffer[] = []
  for (const message of messages)
    socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]))
  let bytes = Buffer.alloc(0)
  for await (const piece of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, piece])
    while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE()) {
      answers.push(bytes.subarray(2, 2 + bytes.readUInt16BE()))
      bytes = bytes.subarray(2 + bytes.readUInt16BE())
    }
    if (answers.length === messages.length) break
  }
  socket.destroy()
  return answers
}

/** The addresses of a name that the gateway `to` returns to a client at `from`. */
export async function lookUp(from: string, to: string, name: string, type = TYPE.a): Promise<Answer> {
  return readAnswer(await askUdp(from, to, question(name, type)))
}

/** A UDP name server that gives each question to `answer`. */
export async function nameServer(
  host: string,
  port: number,
  answer: (message: Buffer) => Buffer | null,
): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', (message, { port: from, address }) => {
    const reply = answer(message)
    if (reply) socket.send(reply, from, address)
  })
  socket.bind(port, host)
  await once(socket, 'listening')
  return socket
}

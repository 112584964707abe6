import { on } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import { anonymousBytes } from '../lib/processes.ts'
import { PLAIN_HOST, SECURE_HOST } from './ours.ts'
import type { Program } from './programs.ts'

/** Connections that are opened and closed first, so that code and heap are warmed up. */
const WARM_UP = 100
/** Connections that are opened at a time: with more, the memory of their requests would count. */
const AT_A_TIME = 16
const SETTLE_MS = 1_500

/** The protocol of a connection. */
type Protocol = 'http' | 'https' | 'h2'

/** Returns the KiB of memory per connection, for many connections that have made one request and are idle. */
export async function idleConnectionKib(
  program: Program,
  protocol: Protocol,
  count: number,
): Promise<number> {
  close(await open(program, protocol, WARM_UP))
  await delay(SETTLE_MS)
  const before = anonymous(program)
  const sockets = await open(program, protocol, count)
  await delay(SETTLE_MS)
  const more = anonymous(program) - before
  close(sockets)
  return more / count / 1024
}

async function open(program: Program, protocol: Protocol, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const batch = Math.min(AT_A_TIME, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => openOne(program, protocol)))))
  }
  return sockets
}

/** Opens a connection and waits for the answer to one request. */
async function openOne(program: Program, protocol: Protocol): Promise<Socket> {
  const socket =
    protocol === 'http' ? connectPlain(program.plainPort, '127.0.0.1') : secure(program, protocol)
  const host = protocol === 'http' ? PLAIN_HOST : SECURE_HOST
  socket.write(protocol === 'h2' ? http2Request(host) : `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const answered = protocol === 'h2' ? 'xxx' : 'HTTP/1.1 200'
  let answer = ''
  for await (const [bytes] of on(socket, 'data')) {
    answer += (bytes as Buffer).toString('latin1')
    if (answer.includes(answered)) break
  }
  socket.resume()
  socket.on('error', () => {})
  return socket
}

function secure(program: Program, protocol: Protocol): Socket {
  const ALPNProtocols = protocol === 'h2' ? ['h2'] : ['http/1.1']
  const { securePort: port } = program
  return connectSecure({
    host: '127.0.0.1',
    port,
    servername: SECURE_HOST,
    ALPNProtocols,
    rejectUnauthorized: false,
  })
}

/** Returns the preface, empty SETTINGS, and uncompressed HEADERS of one request (RFC 9113 3.4, 6.2). */
function http2Request(host: string): Buffer {
  const fields = [':method', 'GET', ':scheme', 'https', ':path', '/', ':authority', host]
  const block = Buffer.concat(
    fields.map((text, index) =>
      Buffer.from([...(index % 2 === 0 ? [0] : []), text.length, ...Buffer.from(text)]),
    ),
  )
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')
  return Buffer.concat([preface, Buffer.from([0, 0, block.length, 1, 5, 0, 0, 0, 1]), block])
}

function close(sockets: Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

function anonymous(program: Program): number {
  return program.workers().reduce((sum, pid) => sum + anonymousBytes(pid), 0)
}

import { setTimeout as delay } from 'node:timers/promises'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { anonymousBytes } from '../lib/processes.ts'
import { SECURE_HOST } from './ours.ts'
import type { Program } from './programs.ts'

const CONNECTIONS = 20
const STREAMS = 100
/** How much each stream may be sent; all together there is no limit. */
const STREAM_WINDOW_BYTES = 1_000
const ALL_BYTES = 1_000_000_000
const SETTLE_MS = 3_000

/** Returns the KiB of memory per stream, for 2,000 streams of 10 MiB of which next to nothing is read. */
export async function stalledStreamKib(program: Program): Promise<number> {
  const before = anonymous(program)
  const sockets: TLSSocket[] = []
  for (let count = 0; count < CONNECTIONS; count++) sockets.push(await openStalled(program))
  await delay(SETTLE_MS)
  const more = anonymous(program) - before
  for (const socket of sockets) socket.destroy()
  return more / (CONNECTIONS * STREAMS) / 1024
}

async function openStalled({ securePort: port }: Program): Promise<TLSSocket> {
  const options = { servername: SECURE_HOST, ALPNProtocols: ['h2'], rejectUnauthorized: false }
  const socket = connect({ host: '127.0.0.1', port, ...options })
  socket.on('error', () => {}).resume()
  await once(socket, 'secureConnect')
  const settings = Buffer.alloc(6)
  // SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 6.5.2).
  settings.writeUInt16BE(4, 0)
  settings.writeUInt32BE(STREAM_WINDOW_BYTES, 2)
  const window = Buffer.alloc(4)
  window.writeUInt32BE(ALL_BYTES)
  const fields = [':method', 'GET', ':scheme', 'https', ':path', '/large', ':authority', SECURE_HOST]
  const block = Buffer.concat(
    fields.map((text, index) =>
      Buffer.from([...(index % 2 === 0 ? [0] : []), text.length, ...Buffer.from(text)]),
    ),
  )
  const asked = Array.from({ length: STREAMS }, (_, index) => frame(1, 5, index * 2 + 1, block))
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
  socket.write(Buffer.concat([preface, frame(4, 0, 0, settings), frame(8, 0, 0, window), ...asked]))
  return socket
}

function frame(type: number, flags: number, id: number, content: Buffer): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(content.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(id, 5)
  return Buffer.concat([header, content])
}

function anonymous(program: Program): number {
  return program.workers().reduce((sum, pid) => sum + anonymousBytes(pid), 0)
}

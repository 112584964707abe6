import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import { anonymousBytes } from '../lib/processes.ts'
import { PLAIN_HOST, SECURE_HOST } from './ours.ts'
import type { Program } from './programs.ts'

/** Connections that are opened and closed first, so that code and heap are there. */
const WARM_UP = 100
/** Connections that are opened at a time: more would be memory of their requests. */
const AT_A_TIME = 16
const SETTLE_MS = 1_500

/** KiB of memory for each of many connections that have had one request and wait for the next. */
export async function idleConnectionKib(program: Program, secure: boolean, count: number): Promise<number> {
  close(await open(program, secure, WARM_UP))
  await delay(SETTLE_MS)
  const before = anonymous(program)
  const sockets = await open(program, secure, count)
  await delay(SETTLE_MS)
  const more = anonymous(program) - before
  close(sockets)
  return more / count / 1024
}

async function open(program: Program, secure: boolean, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const batch = Math.min(AT_A_TIME, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => openOne(program, secure)))))
  }
  return sockets
}

/** A connection with one request answered. */
async function openOne(program: Program, secure: boolean): Promise<Socket> {
  const socket = secure
    ? connectSecure({
        host: '127.0.0.1',
        port: program.securePort,
        servername: SECURE_HOST,
        rejectUnauthorized: false,
      })
    : connectPlain(program.plainPort, '127.0.0.1')
  socket.write(`GET / HTTP/1.1\r\nHost: ${secure ? SECURE_HOST : PLAIN_HOST}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error('a connection got no answer')
  socket.resume()
  socket.on('error', () => {})
  return socket
}

function close(sockets: Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

function anonymous(program: Program): number {
  return program.workers().reduce((sum, pid) => sum + anonymousBytes(pid), 0)
}

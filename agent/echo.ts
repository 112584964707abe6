import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { ECHO_EXITS } from './protocol.ts'

const PORT = 7881
/** The headers of IPv4 and UDP. */
const HEADER_BYTES = 28
const SMALL_BYTES = 64
/** The first packets between two nodes may be lost while the engines tell each other where the address is. */
const TRIES = 8
const PAUSE_MS = 500
/** What nobody has removed by then was left by a killed server. */
const LIFETIME_MS = 120_000

/** Sends back every packet, in a container of an overlay network. */
export function echo(): void {
  const socket = createSocket('udp4')
  socket.on('message', (message, { address, port }) => socket.send(message, port, address))
  socket.on('error', () => {})
  socket.bind(PORT)
  setTimeout(() => socket.close(), LIFETIME_MS)
}

/** Sends a small packet to an echo, then one as large as a frame of the network can be. Returns the program's exit code. */
export async function ask(address: string): Promise<number> {
  if (!(await comesBack(address, SMALL_BYTES))) return ECHO_EXITS.silent
  const frameBytes = Number(readFileSync('/sys/class/net/eth0/mtu', 'utf8'))
  return (await comesBack(address, frameBytes - HEADER_BYTES)) ? ECHO_EXITS.fine : ECHO_EXITS.fullFramesLost
}

async function comesBack(address: string, bytes: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = once(socket, 'message') as Promise<[Buffer]>
      socket.send(Buffer.alloc(bytes, 'x'), PORT, address)
      const got = await Promise.race([answer, delay(PAUSE_MS, null)])
      if (got?.[0].length === bytes) return true
    }
    return false
  } finally {
    socket.close()
  }
}

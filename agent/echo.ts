import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { ECHO_EXITS } from './protocol.ts'

const PORT = 7881
/** The headers of IPv4 and UDP. */
const HEADER_BYTES = 28
const SMALL_BYTES = 64
/** Packets between two nodes are lost while their engines tell each other where an address is, which takes them seconds. */
const FIRST_TRIES = 48
/** Then a packet that is lost is one that the network does not carry. */
const TRIES = 8
const PAUSE_MS = 250
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
  if (!(await comesBack(address, SMALL_BYTES, FIRST_TRIES))) return ECHO_EXITS.silent
  const frameBytes = Number(readFileSync('/sys/class/net/eth0/mtu', 'utf8'))
  return (await comesBack(address, frameBytes - HEADER_BYTES, TRIES))
    ? ECHO_EXITS.fine
    : ECHO_EXITS.fullFramesLost
}

async function comesBack(address: string, bytes: number, tries: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  try {
    for (let sent = 0; sent < tries; sent++) {
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

import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { EXIT, Fault } from '../fault.ts'
import type { Api, Query } from './api.ts'
import { keepAlive, socketOf } from './socket.ts'

const PROTOCOL = 'deployer.tcp.v1'
/** What may wait for a slow side before the other is read no further. */
const HELD_BYTES = 256 * 1024
const ENDED = 1000

/**
 * Opens a tunnel for a connection of this computer, and passes its bytes until either side ends. Throws Fault if it is refused, or
 * breaks; the connection is closed then.
 */
export async function passThrough(api: Api, path: string, query: Query, local: Socket): Promise<void> {
  try {
    const { socket, opened } = socketOf(api, path, query, PROTOCOL)
    local.once('close', () => socket.terminate())
    await opened
    await pass(socket, local)
  } catch (error) {
    // Nobody waits for a connection any more that its program has closed.
    if (!local.destroyed) throw error
  } finally {
    local.destroySoon()
  }
}

/** Passes bytes in order, both ways. Whoever reads slowly slows the other side. */
function pass(remote: WebSocket, local: Socket): Promise<void> {
  keepAlive(remote)
  remote.on('message', (bytes) => {
    if (!local.write(bytes as Buffer)) remote.pause()
  })
  local.on('drain', () => remote.resume())
  local.on('data', (bytes: Buffer) => {
    remote.send(bytes, () => {
      if (remote.bufferedAmount <= HELD_BYTES) local.resume()
    })
    if (remote.bufferedAmount > HELD_BYTES) local.pause()
  })
  local.on('end', () => {
    remote.close(ENDED)
    remote.resume()
  })
  // It was accepted paused, so that nothing came before anybody listened.
  local.resume()
  remote.resume()
  return new Promise((resolve, reject) => {
    remote.once('close', (code, reason) => {
      if (code === ENDED || local.readableEnded || local.destroyed) resolve()
      else reject(new Fault(EXIT.noConnection, `the tunnel closed: ${String(reason) || `code ${code}`}`))
    })
  })
}

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Datastore } from '#server/datastores/schema.ts'
import type { Call } from '../call.ts'
import { EXIT, Fault } from '../fault.ts'
import type { Api } from './api.ts'
import { isLoopback } from './server.ts'
import { pathTo, type Target } from './target.ts'
import { readPlace } from './ssh-place.ts'

const LOOPBACK = '127.0.0.1'
/** A program on this machine answers at once. */
const PROBE_MS = 1_000

/** A way from this computer to a datastore. */
export interface Way {
  /** The port of this computer's loopback that leads there; null where each connection takes a tunnel. */
  port: number | null
  /** Passes the bytes of a connection on until it ends. Throws Fault. */
  relay: (socket: Socket) => Promise<void>
  close: () => void
}

/**
 * Finds the way to a datastore: its port on this machine, the same through ssh, or tunnels through the API, which `--tunnel`
 * demands. Throws Fault where it cannot be reached.
 */
export async function wayTo(call: Call, api: Api, target: Target, datastore: Datastore): Promise<Way> {
  const { name, status, host_port } = datastore
  if (status !== 'available' || host_port === null)
    throw new Fault(EXIT.conflict, `datastore ${name} is ${status}; try again when it is available`)
  if (!call.has('tunnel')) {
    if (api.server.url.startsWith('ssh://')) {
      const { forwardPort } = await import('./ssh.ts')
      const forward = await forwardPort(readPlace(api.server.url), `${LOOPBACK}:${host_port}`, call)
      return { port: forward.port, relay: relayTo(forward.port), close: forward.close }
    }
    // A server at a loopback address may also be brought here from elsewhere; then nothing listens at the port.
    if (isOfThisMachine(api) && (await takesConnections(host_port)))
      return { port: host_port, relay: relayTo(host_port), close: () => {} }
  }
  const { passThrough } = await import('./tunnel.ts')
  const path = pathTo('datastores', target, '/tunnel')
  const query = { environment: target.environment }
  return { port: null, relay: (socket) => passThrough(api, path, query, socket), close: () => {} }
}

/** Whether the server runs on this computer, as far as its address says. */
export function isOfThisMachine({ server }: Api): boolean {
  return !server.url.startsWith('ssh://') && isLoopback(new URL(server.url).hostname)
}

/** Listens on loopback and passes every connection on. `onFault` gets the faults of single connections. */
export async function listenFor(
  way: Way,
  port: number,
  onFault: (fault: Error) => void,
): Promise<{ port: number; close: () => void }> {
  const server: Server = createServer(
    { pauseOnConnect: true, allowHalfOpen: true, noDelay: true },
    (socket) => {
      socket.on('error', () => socket.destroy())
      way.relay(socket).catch(onFault)
    },
  )
  server.listen(port, LOOPBACK)
  try {
    await once(server, 'listening')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message
    throw new Fault(EXIT.failed, `${LOOPBACK}:${port}: ${why}; name another --port`, { cause })
  }
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

function relayTo(port: number): Way['relay'] {
  return async (local) => {
    const remote = connect({ host: LOOPBACK, port, allowHalfOpen: true, noDelay: true })
    const passed = [pipeline(local, remote), pipeline(remote, local)]
    await Promise.all(passed).catch((cause: NodeJS.ErrnoException) => {
      local.destroy()
      remote.destroy()
      if (cause.code === 'ECONNREFUSED')
        throw new Fault(EXIT.noConnection, `nothing takes connections at ${LOOPBACK}:${port}`, { cause })
    })
  }
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect({ host: LOOPBACK, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PROBE_MS) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

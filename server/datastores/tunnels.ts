import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { onChange } from '../changes.ts'
import { useContext } from '../context.ts'
import { AppError, messageOf } from '../errors.ts'
import type { OfferedSocket, SocketResponse } from '../http/web-socket.ts'
import { logger } from '../log.ts'
import { schedule } from '../options/schedule.ts'
import { getDatastore, type DatastoreRow } from './store.ts'
import { CLOSE, Tunnel } from './tunnel.ts'
import { LOOPBACK } from './view.ts'

/** Each may hold up to 2 MiB; pools of connections of a few developers need a few dozen. */
const MAX_TUNNELS = 64
const CONNECT_WITHIN_MS = 5_000
/** How long a client has to answer that the server stops. */
const GOODBYE_MS = 1_000

const log = logger('tunnels')

/** How many are open or about to be. */
let open = 0

/** What the endpoint answers with. */
export const TUNNEL: SocketResponse = {
  subprotocol: 'deployer.tcp.v1',
  description:
    'A WebSocket of the subprotocol `deployer.tcp.v1`: binary messages carry the bytes of one connection to the datastore',
}

/**
 * Connects a client of the API to a datastore. `by` names the client in the log. Throws `conflict`, `upgrade_required`,
 * `invalid_request` or `runtime_error` before the connection is taken over.
 */
export async function openTunnel(datastore: DatastoreRow, offered: OfferedSocket, by: string): Promise<void> {
  const port = portOf(datastore)
  if (open >= MAX_TUNNELS)
    throw new AppError('conflict', `${MAX_TUNNELS} tunnels are open, the most at a time: close one`)
  offered.assertPossible()
  open++
  try {
    const socket = await connectTo(datastore, port)
    const client = offered.accept()
    if (client) await pass(datastore, client, socket, offered, by)
    else socket.destroy()
  } finally {
    open--
  }
}

function portOf({ name, status, host_port }: DatastoreRow): number {
  if (status === 'available' && host_port !== null) return host_port
  throw new AppError('conflict', `datastore ${name} is ${status}: it can be reached once it is available`)
}

async function connectTo({ name }: DatastoreRow, port: number): Promise<Socket> {
  const socket = connect({ host: LOOPBACK, port, noDelay: true, keepAlive: true })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_WITHIN_MS) })
    return socket
  } catch (cause) {
    socket.destroy()
    const isLate = (cause as Error).name === 'AbortError'
    const why = isLate ? `none within ${CONNECT_WITHIN_MS / 1_000} s` : messageOf(cause)
    throw new AppError('runtime_error', `datastore ${name} takes no connection: ${why}; see its log`, {
      cause,
    })
  }
}

/** Passes bytes until one of the two sides ends it, or it may no longer be open. */
async function pass(
  datastore: DatastoreRow,
  client: WebSocket,
  socket: Socket,
  offered: OfferedSocket,
  by: string,
): Promise<void> {
  const began = performance.now()
  const fields = { by, datastore: datastore.name, id: datastore.id }
  log.info('a tunnel was opened', fields)
  const tunnel = new Tunnel(client, socket, () => offered.bytesRead())
  const forget = endInTime(datastore.id, client, tunnel, offered)
  // A faulty message is an error first, and closes too.
  const code = await new Promise<number>((resolve) => client.once('close', resolve))
  forget()
  log.info('a tunnel has ended', {
    ...fields,
    code,
    seconds: Math.round((performance.now() - began) / 1_000),
    bytes_to_datastore: tunnel.toDatastore,
    bytes_from_datastore: tunnel.fromDatastore,
  })
}

/** Ends a tunnel with its token, its datastore, its client or the server. The returned function stops that. */
function endInTime(
  datastoreId: string,
  client: WebSocket,
  tunnel: Tunnel,
  offered: OfferedSocket,
): () => void {
  const { stopping } = useContext()
  const check = () => {
    if (!offered.isAllowed()) tunnel.close(CLOSE.notAllowed, 'the API token is no longer valid')
    else if (isGone(datastoreId)) tunnel.close(CLOSE.notAllowed, 'the datastore was deleted')
  }
  const stop = () => {
    tunnel.close(CLOSE.goingAway, 'the server stops')
    setTimeout(() => client.terminate(), GOODBYE_MS).unref()
  }
  const probe = setInterval(() => {
    check()
    if (!tunnel.probe()) client.terminate()
  }, schedule.tunnelProbeEveryMs)
  const forgetCredentials = offered.watch(check)
  const forgetChanges = onChange(({ kind, id }) => {
    if (id === datastoreId || kind === 'all') check()
  })
  stopping.addEventListener('abort', stop, { once: true })
  // Either may have ended while the datastore was connected to.
  check()
  if (stopping.aborted) stop()
  return () => {
    clearInterval(probe)
    forgetCredentials()
    forgetChanges()
    stopping.removeEventListener('abort', stop)
  }
}

function isGone(id: string): boolean {
  const datastore = getDatastore(id)
  return datastore === undefined || datastore.status === 'deleting'
}

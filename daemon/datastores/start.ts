import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { KINDS } from '#server/datastores/kinds.ts'
import { getDatastore, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { allotAddress } from '#server/instances/addresses.ts'
import { addressFor } from '../environments/addresses.ts'
import { ensureNetwork } from '../environments/networks.ts'
import type { World } from '../world.ts'
import { certificateFor, knowsTls } from './certificate.ts'
import { datastoreContainer, programConfig } from './container.ts'
import { datastoreFiles } from './files.ts'
import { imageOf } from './image.ts'

/** The engine's words for a host port that another program has. */
const PORT_TAKEN = /port is already allocated|address already in use/

/**
 * Makes the container of a datastore and starts it. One that is there and does not run is made anew, so that it starts
 * with the settings of now; what it keeps is in its volume. Throws `runtime_error`.
 */
export async function startDatastore(world: World, row: DatastoreRow, signal: AbortSignal): Promise<void> {
  const { containers, volumes } = world.engine
  const network = await ensureNetwork(world, findEnvironment(row.environment_id))
  const imageId = await imageOf(world.engine, row, signal)
  const address = await addressFor(world.engine, allotAddress, row.environment_id, network, row.id)
  const [free, freeForTls] = await freePorts()
  const hostPort = row.host_port ?? free
  const { port, tlsPort } = KINDS[row.kind]
  const hostTlsPort = tlsPort === port || !knowsTls(row) ? null : (row.host_tls_port ?? freeForTls)
  // Its name leads to no address that it has not had; one that it had leads nowhere else meanwhile.
  recordDatastore(row.id, { address: address === row.address ? address : null, host_port: hostPort })
  await assertKept(world, row)
  await volumes.create(row.volume, { 'deployer.datastore': row.id })
  await containers.remove(row.id)
  signal.throwIfAborted()
  const location = { network: network.name, address, hostPort, hostTlsPort, imageId }
  await containers.create(datastoreContainer(row, location))
  const certificate = await certificateFor(world.engine, row, address)
  const files = datastoreFiles(programConfig(row, certificate !== null), certificate)
  await containers.putArchive(row.id, files.folder, files.tar)
  // Before the start: one that runs where nothing is recorded would be stopped by the next pass.
  recordDatastore(row.id, { address, host_tls_port: certificate && (hostTlsPort ?? hostPort) })
  // It may have been deleted while its container was made.
  if (getDatastore(row.id)?.status === 'deleting') return
  await start(world, row.id)
  // Its name may be new to the resolver.
  await world.dataPlane.sync()
}

/** A store that has served is never started on nothing, which would pass for it. Throws `runtime_error`. */
async function assertKept({ engine }: World, { status, volume }: DatastoreRow): Promise<void> {
  if (status === 'creating' || status === 'failed') return
  if ((await engine.volumes.inspect(volume)) !== null) return
  throw new AppError(
    'runtime_error',
    `its volume ${volume} is gone from the container engine, with all that it held: restore a backup`,
  )
}

async function start(world: World, id: string): Promise<void> {
  try {
    await world.engine.containers.start(id)
  } catch (error) {
    // Another program took the port while the datastore was down; the next try takes another.
    if (error instanceof AppError && PORT_TAKEN.test(messageOf(error)))
      recordDatastore(id, { host_port: null, host_tls_port: null })
    throw error
  }
}

/** Two ports of the host's loopback that nobody listens on. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const [first, second] = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await once(server.close(), 'close')
  return [first!, second!]
}

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { KINDS, supportsTls } from '#server/datastores/kinds.ts'
import { getDatastore, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { allotAddress } from '#server/instances/addresses.ts'
import { addressFor } from '../environments/addresses.ts'
import { ensureNetwork } from '../environments/networks.ts'
import type { World } from '../world.ts'
import { certificateFor } from './certificate.ts'
import { datastoreContainer, programConfig } from './container.ts'
import { datastoreFiles } from './files.ts'
import { imageOf } from './image.ts'

/** The engine's errors for a host port that another program uses. */
const PORT_TAKEN = /port is already allocated|address already in use/

/**
 * Creates the container of a datastore and starts it. An existing one is created again, so that it starts with the current
 * settings; its data is in the volume. Throws `runtime_error`.
 */
export async function startDatastore(world: World, row: DatastoreRow, signal: AbortSignal): Promise<void> {
  const { containers, volumes } = world.engine
  const network = await ensureNetwork(world, findEnvironment(row.environment_id))
  const imageId = await imageOf(world.engine, row, signal)
  const address = await addressFor(world.engine, allotAddress, row.environment_id, network, row.id)
  const [free, freeForTls] = await freePorts()
  const hostPort = row.host_port ?? free
  const { port, tlsPort } = KINDS[row.kind]
  const hostTlsPort = tlsPort === port || !supportsTls(row) ? null : (row.host_tls_port ?? freeForTls)
  // Until the container exists, its name must not resolve to a new address; a former address that it keeps may stay.
  recordDatastore(row.id, { address: address === row.address ? address : null, host_port: hostPort })
  await assertVolumeExists(world, row)
  await volumes.create(row.volume, { 'deployer.datastore': row.id })
  await containers.remove(row.id)
  signal.throwIfAborted()
  const location = { network: network.name, address, hostPort, hostTlsPort, imageId }
  await containers.create(datastoreContainer(row, location))
  const certificate = await certificateFor(world.engine, row, address)
  const files = datastoreFiles(programConfig(row, certificate !== null), certificate)
  await containers.putArchive(row.id, files.folder, files.tar)
  // Before the start: the next pass would stop a container that runs at an address that is not recorded.
  recordDatastore(row.id, { address, host_tls_port: certificate && (hostTlsPort ?? hostPort) })
  // It may have been deleted while its container was created.
  if (getDatastore(row.id)?.status === 'deleting') return
  await start(world, row.id)
  // Its name may be new to the resolver.
  await world.dataPlane.sync()
}

/** Throws `runtime_error` if the volume of a datastore that has served is gone: it must not be started on an empty one. */
async function assertVolumeExists({ engine }: World, { status, volume }: DatastoreRow): Promise<void> {
  if (status === 'creating' || status === 'failed') return
  if ((await engine.volumes.inspect(volume)) !== null) return
  throw new AppError(
    'runtime_error',
    `its volume ${volume} is gone from the container engine, with all its data: restore a backup`,
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

/** Returns two free ports of the host's loopback interface. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  const [first, second] = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await once(server.close(), 'close')
  return [first!, second!]
}

import { KINDS, supportsTls } from '#server/datastores/kinds.ts'
import { getDatastore, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { allotAddress } from '#server/instances/addresses.ts'
import { addressFor } from '../environments/addresses.ts'
import type { Engine } from '../engine/index.ts'
import { ensureNetworkOn, placeIn } from '../environments/networks.ts'
import type { World } from '../world.ts'
import { certificateFor } from './certificate.ts'
import { datastoreContainer, programConfig } from './container.ts'
import { datastoreFiles } from './files.ts'
import { freePorts } from './free-ports.ts'
import { imageOf } from './image.ts'

/** The engine's errors for a host port that another program uses. */
const PORT_TAKEN = /port is already allocated|address already in use/

/**
 * Creates the container of a datastore and starts it. An existing one is created again, so that it starts with the current
 * settings; its data is in the volume. Throws `runtime_error`.
 */
export async function startDatastore(world: World, row: DatastoreRow, signal: AbortSignal): Promise<void> {
  const engine = world.engineOf(row.node_id)
  const { containers, volumes } = engine
  const network = await ensureNetworkOn(world, loadEnvironment(row.environment_id), row.node_id)
  const imageId = await imageOf(world, row, signal)
  const address = await addressFor(engine, allotAddress, row.environment_id, network, row.id)
  const [free, freeForTls] = await freePorts()
  const hostPort = row.host_port ?? free
  const { port, tlsPort } = KINDS[row.kind]
  const hostTlsPort = tlsPort === port || !supportsTls(row) ? null : (row.host_tls_port ?? freeForTls)
  // Until the container exists, its name must not resolve to a new address; a former address that it keeps may stay.
  recordDatastore(row.id, { address: address === row.address ? address : null, host_port: hostPort })
  await assertVolumeExists(engine, row)
  await volumes.create(row.volume, { 'deployer.datastore': row.id })
  await containers.remove(row.id)
  signal.throwIfAborted()
  const location = { place: placeIn(network, address), hostPort, hostTlsPort, imageId }
  await containers.create(datastoreContainer(row, location))
  const certificate = await certificateFor(engine, row, network.addressOf(address))
  const files = datastoreFiles(programConfig(row, certificate !== null), certificate)
  await containers.putArchive(row.id, files.folder, files.tar)
  // Before the start: the next pass would stop a container that runs at an address that is not recorded.
  recordDatastore(row.id, { address, host_tls_port: certificate && (hostTlsPort ?? hostPort) })
  // It may have been deleted while its container was created.
  if (getDatastore(row.id)?.status === 'deleting') return
  await start(engine, row.id)
  // Its name may be new to the resolver.
  await world.dataPlane.sync()
}

/** Throws `runtime_error` if the volume of a datastore that has served is gone: it must not be started on an empty one. */
async function assertVolumeExists(engine: Engine, { status, volume }: DatastoreRow): Promise<void> {
  if (status === 'creating' || status === 'failed') return
  if ((await engine.volumes.inspect(volume)) !== null) return
  throw new AppError(
    'runtime_error',
    `its volume ${volume} is gone from the container engine, with all its data: restore a backup`,
  )
}

async function start(engine: Engine, id: string): Promise<void> {
  try {
    await engine.containers.start(id)
  } catch (error) {
    // Another program took the port while the datastore was down; the next try takes another.
    if (error instanceof AppError && PORT_TAKEN.test(messageOf(error)))
      recordDatastore(id, { host_port: null, host_tls_port: null })
    throw error
  }
}

import { existsSync } from 'node:fs'
import { newestBackup } from '#server/backups/newest.ts'
import { allDatastores, type DatastoreRow } from '#server/datastores/store.ts'
import { siteFolder } from '#server/deploys/folders.ts'
import { getDeploy } from '#server/deploys/store.ts'
import { disksOf } from '#server/disks/list.ts'
import { diskVolume } from '#server/disks/volume.ts'
import { announceServer } from '#server/changes.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { lostNodeFault } from '#server/nodes/lost.ts'
import { hasOtherNodes, listNodes, nodeName, ownNodeId } from '#server/nodes/store.ts'
import { getRestore, planRestore, type StepRow } from '#server/restore/store.ts'
import { noteRestoreWaits, restoreWaits } from '#server/restore/waiting.ts'
import { allServices, type ServiceRow } from '#server/services/store.ts'
import { answers } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { adoptMoved, doubtAbout, runningOn, type Running } from './elsewhere.ts'

const log = logger('restore')

type Planned = Omit<StepRow, 'work_id'>

/** How long the plan waits for the other nodes, whose agents may have to be told where the server is now. */
const CONNECTED_WITHIN_MS = 25_000

let triedAt: number | null = null

/**
 * Records the steps of the restore, unless that is done; returns whether it is. Says why it cannot be for now, such as while the
 * former machine still runs. Throws `runtime_error` while the engine does not answer.
 */
export async function plan(world: World): Promise<boolean> {
  if (getRestore()?.planned !== 0) return true
  let why: string | null = null
  try {
    await tryPlan(world)
  } catch (error) {
    if (!(await keepsWaiting(world, error))) throw error
    why = messageOf(error)
  }
  if (why !== restoreWaits()) {
    if (why !== null) log.warn('the restore waits', { reason: why })
    noteRestoreWaits(why)
    announceServer('restore')
  }
  return getRestore()?.planned === 1
}

/** Whether a restore waits because of this: not while its own engine is away, which the other nodes must not wait for. */
async function keepsWaiting({ engine }: World, error: unknown): Promise<boolean> {
  if (!(error instanceof AppError)) return false
  if (error.code === 'conflict') return true
  return hasOtherNodes() && (await engine.answers())
}

/**
 * Does nothing while the other nodes are still being connected. Throws `conflict` while the server cannot take its place among the
 * nodes, or cannot know what was moved after the backup.
 */
async function tryPlan(world: World): Promise<void> {
  await world.machines.reconnect()
  triedAt ??= performance.now()
  const isLate = performance.now() - triedAt > CONNECTED_WITHIN_MS
  const isConnected = listNodes().every(({ id, status }) => status === 'down' || answers(world, id))
  if (!isConnected && !isLate) return
  const running = await runningOn(world.engines())
  adoptMoved(running)
  const doubt = doubtAbout(running)
  if (doubt !== null) throw new AppError('conflict', doubt)
  planRestore([...(await planSteps(world)), ...unknownSteps(running)])
}

/** Finds out what the engine still has, and what is to be done about the rest. */
async function planSteps(world: World): Promise<Planned[]> {
  const datastores = await Promise.all(
    allDatastores()
      .filter(({ status }) => status !== 'deleting')
      .map((row) => stepOfDatastore(world, row)),
  )
  const services = allServices().filter(({ deleting }) => !deleting)
  const disks = await Promise.all(
    services.flatMap((row) => disksOf(row).map(({ name }) => stepOfDisk(world, row, name))),
  )
  const deployed = services.filter(({ live_deploy_id }) => live_deploy_id !== null)
  const programs = await Promise.all(deployed.map((row) => stepOfService(world, row)))
  return [...datastores, ...disks, ...programs]
}

async function stepOfDatastore({ engine }: World, row: DatastoreRow): Promise<Planned> {
  const step = { resource: 'datastore', id: row.id, disk: null, name: row.name } as const
  const isElsewhere = row.node_id !== ownNodeId()
  const lost = isElsewhere ? lostNodeFault(row.node_id) : null
  if (lost !== null) return { ...step, action: 'none', status: 'failed', error: lost }
  // Data on another node was not lost with this server's machine.
  if (isElsewhere || (await engine.volumes.inspect(row.volume)) !== null) return adopting(step)
  if (newestBackup(row.id)) return { ...step, action: 'restore', status: 'waiting', error: null }
  const error = 'its volume is gone, and there is no backup of it'
  return { ...step, action: 'none', status: 'failed', error }
}

async function stepOfDisk({ engine }: World, service: ServiceRow, disk: string): Promise<Planned> {
  const step = { resource: 'disk', id: service.id, disk, name: service.name } as const
  const isElsewhere = service.node_id !== null && service.node_id !== ownNodeId()
  const lost = isElsewhere ? lostNodeFault(service.node_id!) : null
  if (lost !== null) return { ...step, action: 'none', status: 'failed', error: lost }
  if (isElsewhere || (await engine.volumes.inspect(diskVolume(service.id, disk))) !== null)
    return { ...adopting(step), status: 'done' }
  if (newestBackup(service.id, disk)) return { ...step, action: 'restore', status: 'waiting', error: null }
  const error = 'its volume is gone, and there is no backup of it: it starts empty'
  return { ...step, action: 'none', status: 'failed', error }
}

async function stepOfService({ engine }: World, service: ServiceRow): Promise<Planned> {
  const step = { resource: 'service', id: service.id, disk: null, name: service.name } as const
  const live = getDeploy(service.live_deploy_id!)!
  const isHere =
    live.site_id === null
      ? live.image_id !== null && (await engine.images.inspect(live.image_id)) !== null
      : existsSync(siteFolder(live.site_id))
  if (isHere) return adopting(step)
  if (!service.suspended) return { ...step, action: 'deploy', status: 'waiting', error: null }
  return { ...step, action: 'none', status: 'done', error: 'it is suspended: deploy it after you resume it' }
}

/** What runs and is newer than the backup, but for what was adopted. */
function unknownSteps(running: Running): Planned[] {
  return [...running].flatMap(([nodeId, containers]) => {
    const where = nodeId === ownNodeId() ? '' : ` on ${nodeName(nodeId)}`
    // What was adopted since it was listed is recorded by its name alone.
    const isAdopted = (name: string) => ledgerOn(nodeId).find('container', name)?.engine_id === null
    return containers
      .filter(({ isRecorded, state }) => !isRecorded && !isAdopted(state.name))
      .map(({ state: { name } }) => ({
        resource: 'unknown',
        id: name,
        disk: null,
        name,
        action: 'none',
        status: 'done',
        error: `it is newer than the backup and goes on running${where}: docker rm -f ${name}${where && ' there'} removes it`,
      }))
  })
}

function adopting<T extends Pick<Planned, 'resource' | 'id' | 'disk' | 'name'>>(step: T): T & Planned {
  return { ...step, action: 'adopt', status: 'waiting', error: null }
}

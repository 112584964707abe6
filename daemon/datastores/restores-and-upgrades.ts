import { setTimeout as delay } from 'node:timers/promises'
import { getBackup } from '#server/backups/store.ts'
import {
  allRestoresAndUpgrades,
  getRestoreOrUpgrade,
  takeBackTries,
  type RestoreOrUpgrade,
} from '#server/datastores/restores-and-upgrades-store.ts'
import {
  beginTry,
  finishRestoreOrUpgrade,
  forbidWrites,
  giveUpRestoreOrUpgrade,
} from '#server/datastores/restores-and-upgrades.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { runningMove } from '#server/moves/store.ts'
import { whileMoving } from '../moves/while-moving.ts'
import { ReplacementWork } from '../replacements/work.ts'
import type { World } from '../world.ts'
import { provideBackup } from './backup-check.ts'
import { isInMode } from './container.ts'
import { copyToNode } from './copy-to-node.ts'
import { fillVolume } from './fill.ts'
import { imageOf, pullImage } from './image.ts'
import { firstUndumped, furtherDatabases, probeDatastore } from './probe.ts'
import { stopDatastore } from './stop.ts'
import { backUpForUpgrade } from './upgrade-backup.ts'
import { assertUnwritten } from './written-meanwhile.ts'

const log = logger('datastores')

/** Interval between two probes of a program that is restarting. */
const ANSWER_PERIOD_MS = 100
const ANSWER_WITHIN_MS = 5 * 60_000

/** Stops the keeper from touching a datastore's container while it is replaced. */
export interface Keeping {
  hold(id: string): Promise<void>
  release(id: string): void
}

export type RestoresAndUpgrades = ReplacementWork<RestoreOrUpgrade>

/**
 * Restores and upgrades: fills a new volume while the datastore keeps serving, and replaces the old volume when that has
 * succeeded; moves to another node, too.
 */
export function createRestoresAndUpgrades(world: World, keeping: Keeping): RestoresAndUpgrades {
  return new ReplacementWork(world, {
    task: 'restores-and-upgrades',
    log,
    of: 'datastore',
    words: ['the data of a datastore was', 'replaced'],
    mayFollow: ({ kind }) => kind === 'datastore',
    due: () =>
      allRestoresAndUpgrades()
        .map(({ datastore_id }) => datastore_id)
        .filter((id) => ['restoring', 'upgrading'].includes(getDatastore(id)?.status ?? '')),
    nodesOf: (id) => nodesOf(getDatastore(id)!),
    beginTry: (id) => beginTry(getRestoreOrUpgrade(id)!),
    takeBackTries,
    surround: (id, signal, tries) => (runningMove(id) ? whileMoving(id, signal, tries) : tries(signal)),
    replace: (filling, signal) => replaceOrMove({ world, keeping }, filling, signal),
    giveUp(id, reason) {
      const filling = getRestoreOrUpgrade(id)
      const was = runningMove(id)
        ? 'moved'
        : getDatastore(id)?.status === 'upgrading'
          ? 'upgraded'
          : 'restored'
      if (filling) giveUpRestoreOrUpgrade(filling, `it was not ${was}: ${reason}`)
    },
    // Only after the result is recorded, or the container would be started in the mode of an upgrade, then again.
    release: (id) => keeping.release(id),
  })
}

/** Whether a container of this name belongs to one in progress. */
export function isBeingFilled(work: RestoresAndUpgrades, name: string): boolean {
  return allRestoresAndUpgrades().some(
    ({ datastore_id, volume }) => work.has(datastore_id) && name.startsWith(volume),
  )
}

/** What a replacement needs of the server. */
interface Place {
  world: World
  keeping: Keeping
}

async function replaceOrMove(place: Place, filling: RestoreOrUpgrade, signal: AbortSignal): Promise<void> {
  const { datastore_id: id } = filling
  const row = getDatastore(id)!
  const move = runningMove(id)
  if (!move) return replace(place, row, filling, signal)
  if (move.from_backup) return replace(place, { ...row, node_id: move.to_node_id }, filling, signal)
  const hold = () => place.keeping.hold(id)
  await copyToNode(place.world, row, { ...filling, nodeId: move.to_node_id }, hold, signal)
}

/** Fills the new volume on the node that `row` names, and puts it in the place of the old one. */
async function replace(
  { world, keeping }: Place,
  row: DatastoreRow,
  filling: RestoreOrUpgrade,
  signal: AbortSignal,
): Promise<void> {
  const { id } = row
  const isLost = getDatastore(id)!.node_id !== row.node_id
  const { kind, volume, version } = filling
  // Find missing images and damaged files before anything changes.
  const imageId =
    kind === 'upgrade'
      ? await pullImage(world.engineOf(row.node_id), `${row.repository}:${version}`, signal)
      : await imageOf(world, row, signal)
  // A datastore that does not answer cannot be asked; a restore brings it back.
  const answers = kind !== 'first' && !isLost && (await isAnswering(row))
  if (answers) assertWholeInDump(await furtherDatabases(row))
  const since = kind === 'upgrade' ? await endWrites(world, row, signal) : null
  const made = getBackup(filling.backup_id ?? '')
  const backup = kind === 'upgrade' ? await backUpForUpgrade(row, made, signal) : made
  if (!backup) throw new AppError('runtime_error', 'the backup was deleted')
  await provideBackup(row.kind, backup, signal)
  const carriesRoles = answers || kind === 'upgrade'
  await fillVolume(world, row, { volume, imageId, backupId: backup.id, carriesRoles }, signal)
  await keeping.hold(id)
  signal.throwIfAborted()
  if (!isLost) await stopDatastore(world, row)
  signal.throwIfAborted()
  if (since !== null) await assertUnwritten(world, row, { since, name: `${volume}-look` }, signal)
  finishRestoreOrUpgrade(getDatastore(id)!, filling, imageId)
  if (kind !== 'first')
    log.info('the data of a datastore was replaced; its former volume is kept for a day', {
      datastore: id,
      kept: row.volume,
      used: volume,
    })
}

/** Makes a datastore refuse writes. Returns the transaction number by which later writes are detected, if it has one. */
async function endWrites(
  world: World,
  { id, kind }: DatastoreRow,
  signal: AbortSignal,
): Promise<bigint | null> {
  forbidWrites(id)
  await untilReadOnly(world, id, signal)
  if (kind !== 'relational') return null
  const row = getDatastore(id)!
  // Checked again, because it may not have answered before.
  assertWholeInDump(await furtherDatabases(row))
  return await firstUndumped(row)
}

/** Waits until the keeper has restarted its container in the mode that an upgrade asks for. */
async function untilReadOnly(world: World, id: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + ANSWER_WITHIN_MS
  for (;;) {
    signal.throwIfAborted()
    const row = getDatastore(id)!
    try {
      const found = await world.engineOf(row.node_id).containers.inspect(id)
      if (found?.running && isInMode(row, found)) return await probeDatastore(row)
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    if (performance.now() > deadline)
      throw new AppError('runtime_error', 'it did not stop taking writes within 5 minutes')
    await delay(ANSWER_PERIOD_MS, undefined, { signal })
  }
}

/** The nodes whose engines a restore, an upgrade or a move needs. */
function nodesOf({ id, node_id }: DatastoreRow): string[] {
  const move = runningMove(id)
  if (!move) return [node_id]
  return move.from_backup ? [move.to_node_id] : [node_id, move.to_node_id]
}

function isAnswering(row: DatastoreRow): Promise<boolean> {
  return probeDatastore(row).then(
    () => true,
    () => false,
  )
}

/** Throws if there are other databases, which the dump would leave out. */
function assertWholeInDump(further: string[]): void {
  if (further.length === 0) return
  throw new AppError(
    'runtime_error',
    `it also holds ${further.map((name) => `database ${name}`).join(', ')}, which would be lost: move what you need to a datastore of its own (pg_dump, pg_restore), drop it here, and try again`,
  )
}

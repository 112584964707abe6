import { runningDiskRestores } from '#server/disks/restores-store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { isBeingMoved } from '#server/moves/store.ts'
import type { Engine } from '../engine/index.ts'
import { answerOf } from '../nodes/presence.ts'
import type { Task } from '../work/driver.ts'
import { runEach } from '../work/each.ts'
import type { World } from '../world.ts'

const log = logger('disks')

/** The folder of a helper with the disk in it, as a folder. */
export const DISKS_FOLDER = '/deployer-disks'
/** The labels of helpers. */
const KIND = { 'deployer.kind': 'disk-work' }
const PERIOD_MS = 60_000
/** The engine's minimum; nothing runs in a helper. */
const MEMORY_BYTES = 16 * 1024 ** 2

/** A container of an empty image that is never started: the engine reads and writes the files of a volume through it. */
interface Helper {
  name: string
  /** Those that say what it belongs to. */
  labels: Record<string, string>
  volume: string
  /** The name of the folder that the disk is, which archives of it begin with. */
  folder: string
}

/** Creates a helper while `work` uses it. If the engine cannot remove it afterwards, `removeStrayHelpers` will. */
export async function withHelper(
  engine: Engine,
  { name, labels, volume, folder }: Helper,
  work: () => Promise<void>,
): Promise<void> {
  const { containers } = engine
  const image = await engine.images.provideEmpty()
  try {
    await containers.create({
      name,
      image,
      labels: { ...labels, ...KIND },
      env: {},
      // The engine wants one.
      entrypoint: ['/never-started'],
      network: 'none',
      memoryBytes: MEMORY_BYTES,
      cpus: 1,
      volumes: [{ name: volume, path: `${DISKS_FOLDER}/${folder}` }],
    })
    await work()
  } finally {
    await containers
      .remove(name)
      .catch((error: unknown) =>
        log.warn('a container cannot be removed yet; trying again later', { name, error: messageOf(error) }),
      )
  }
}

/** Removes the helpers that a killed server left. `isBackup` says whether a container of this name makes a backup. */
export function strayHelpers(world: World, isBackup: (name: string) => boolean): Task {
  const isInUse = (name: string): boolean =>
    runningDiskRestores().some(({ volume }) => volume === name) || isBeingMoved(name) || isBackup(name)
  return {
    name: 'helpers of disks',
    everyMs: PERIOD_MS,
    run: async () => {
      if (world.reachByAddress !== null) await removeStrayHelpers(world, isInUse)
    },
  }
}

/** Removes the helpers that a killed server left, except those that `isKept` names. Throws `runtime_error`. */
export async function removeStrayHelpers(world: World, isKept: (name: string) => boolean): Promise<void> {
  await runEach(
    world.engines().map(({ nodeId, engine: { containers } }) => async () => {
      for (const { name } of await answerOf(nodeId, containers.list(KIND)))
        if (!isKept(name)) await answerOf(nodeId, containers.remove(name))
    }),
  )
}

import type { Engine, Ledger } from '../engine/index.ts'
import { runEach } from '../work/each.ts'

/**
 * Removes everything that a server created in the engine: containers, networks, volumes with the data of datastores and
 * disks, images, and its build cache. Throws an error that lists all that could not be removed.
 */
export async function removeEverything(engine: Engine, ledger: Ledger): Promise<void> {
  const names = (kind: 'container' | 'network' | 'volume' | 'image') =>
    ledger.list(kind).map(({ name }) => name)
  await runEach([
    ...names('container').map((name) => () => engine.containers.remove(name)),
    ...names('network').map((name) => () => engine.networks.remove(name)),
    ...names('volume').map((name) => () => engine.volumes.remove(name)),
    ...names('image').map((name) => () => engine.images.remove(name)),
    async () => void (await engine.shrinkBuildCache(0)),
  ])
}

import { basename, posix } from 'node:path'
import { BuildFailure } from '#plans/index.ts'
import { withReader } from '../reader/reader.ts'
import type { World } from '../world.ts'
import { LIFT_FOLDER, type FinishedSite } from './reader-calls.ts'

/** The container is never started, but the engine requires limits. */
const NOT_STARTED = { memoryBytes: 64 * 1024 * 1024, cpus: 1 }

/** The folder of an image that becomes a site's files. */
export interface Lift {
  /** Names the container that is created for it. */
  deployId: string
  imageId: string
  /** The image's working directory. */
  workdir: string
  /** Relative to `workdir`. */
  publishDirectory: string
  singlePage: boolean
}

/**
 * Copies a folder of an image to where a site is published from, through a container that is created for it and never
 * started. Throws BuildFailure when the folder is missing or contains anything but files and folders.
 */
export async function liftFolder(
  world: World,
  lift: Lift,
  folder: string,
  signal: AbortSignal,
): Promise<FinishedSite> {
  const path = posix.resolve(lift.workdir || '/', lift.publishDirectory)
  if (path === '/') {
    throw new BuildFailure('the whole image would be published: set publish_dir to the folder with the files')
  }
  const { containers } = world.engine
  const name = `lift-${lift.deployId}`
  await containers.remove(name)
  await containers.create({
    name,
    image: lift.imageId,
    labels: { 'deployer.kind': 'lift', 'deployer.deploy': lift.deployId },
    env: {},
    // The engine requires a command, and an image that only has files brings none.
    entrypoint: ['/published'],
    network: 'none',
    ...NOT_STARTED,
  })
  try {
    const tar = await containers.getArchive(name, path, signal)
    if (!tar) throw new BuildFailure(`there is no folder ${path} in the built image: correct publish_dir`)
    try {
      return await withReader(signal, (reader) =>
        reader.feed(LIFT_FOLDER, { top: basename(path), folder, singlePage: lift.singlePage }, tar),
      )
    } finally {
      tar.destroy()
    }
  } finally {
    await containers.remove(name)
  }
}

import { mkdir, rename } from 'node:fs/promises'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { siteFolder } from '#server/sites.ts'
import { buildTree } from '../builds/build.ts'
import { BuildFailure } from '../builds/failure.ts'
import { pullImage } from '../builds/pull.ts'
import { withSourceTree, type SourceTree } from '../builds/source-tree.ts'
import { withinBuildTimeout } from '../builds/time-limit.ts'
import { clearTree, removeTree } from '../sources/remove-tree.ts'
import type { World } from '../world.ts'
import { TAKE_FOLDER, type FinishedSite } from './jobs.ts'
import { liftFolder } from './lift.ts'

/**
 * Makes the published folder of a static site's deploy: from its source as it is, from what its build made, or from an
 * image. No container and no image stays. Throws BuildFailure for faults of the source.
 */
export async function publishSite(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const folder = siteFolder(deploy.id)
  const partial = `${folder}.partial`
  try {
    await removeTree(partial)
    await mkdir(partial, { mode: PRIVATE_DIRECTORY_MODE, recursive: true })
    const { files, notes } = await fillFolder(world, service, deploy, partial, log, signal)
    for (const note of notes) log.system(note)
    await removeTree(folder)
    await rename(partial, folder)
    updateDeploy(deploy.id, { site_id: deploy.id })
    log.system(`publishing ${files} file${files === 1 ? '' : 's'}`)
  } finally {
    await clearTree(partial)
  }
}

async function fillFolder(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  folder: string,
  log: LogWriter,
  signal: AbortSignal,
): Promise<FinishedSite> {
  const lift = (imageId: string, planned: string | null, limited: AbortSignal): Promise<FinishedSite> =>
    liftSite(world, service, deploy, imageId, planned, folder, limited)
  if (service.image !== null) {
    const { id } = await pullImage(world, deploy, log, signal)
    return withinBuildTimeout('publishing the image', signal, (limited) => lift(id, null, limited))
  }
  return withSourceTree(service, deploy, log, signal, async (source, limited) => {
    const taken = await takeAsItIs(service, source, folder, log)
    if (taken) return taken
    const built = await buildTree(world, service, deploy, source, log, limited)
    try {
      return await lift(built.id, built.publishDirectory, limited)
    } finally {
      await world.engine.images.remove(built.reference)
    }
  })
}

/** Takes the files of a source that needs no build; null for one that does. */
async function takeAsItIs(
  service: ServiceRow,
  source: SourceTree,
  folder: string,
  log: LogWriter,
): Promise<FinishedSite | null> {
  const isStatic = service.runtime === 'static'
  if (isStatic && service.build_command !== null) {
    throw new BuildFailure(
      'the runtime static takes the files as they are: clear build_command, or set runtime to auto',
    )
  }
  const isBuilt =
    service.runtime !== 'auto' || service.build_command !== null || service.dockerfile_path !== null
  if (!isStatic && isBuilt) return null
  const publishDirectory = service.publish_dir ?? '.'
  // Without a build command, only a `build` script of a package.json says that there is something to build.
  const take = { root: source.root, mayBuild: !isStatic, publishDirectory, folder }
  const taken = await source.reader.ask(TAKE_FOLDER, take)
  if (taken) log.system(`taking ${publishDirectory === '.' ? 'the files' : publishDirectory} as they are`)
  return taken
}

async function liftSite(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  imageId: string,
  planned: string | null,
  folder: string,
  signal: AbortSignal,
): Promise<FinishedSite> {
  const publishDirectory = service.publish_dir ?? planned
  if (publishDirectory === null) {
    throw new BuildFailure(
      'it is not known which folder to publish: set publish_dir to the folder that the build makes, such as dist',
    )
  }
  const image = await world.engine.images.inspect(imageId)
  const workdir = image?.workdir ?? '/'
  return liftFolder(world, { deployId: deploy.id, imageId, workdir, publishDirectory }, folder, signal)
}

import { cp, mkdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { siteFolder } from '#server/sites.ts'
import { buildTree } from '../builds/build.ts'
import { BuildFailure } from '../builds/failure.ts'
import { pullImage } from '../builds/pull.ts'
import { withSourceTree } from '../builds/source-tree.ts'
import { Tree } from '../sources/tree.ts'
import type { World } from '../world.ts'
import { assertPublishable, writeRules } from './folder.ts'
import { liftFolder } from './lift.ts'

const PRIVATE_DIRECTORY = 0o700

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
  const files = join(partial, 'files')
  try {
    await rm(partial, { recursive: true, force: true })
    await mkdir(partial, { mode: PRIVATE_DIRECTORY, recursive: true })
    if (service.image !== null) {
      const { id } = await pullImage(world, deploy, log, signal)
      await lift(world, service, deploy, id, null, files, signal)
    } else {
      await withSourceTree(service, deploy, log, signal, async (root, limited) => {
        if (await isTakenAsItIs(service, root)) return await copyFolder(service, root, files, log)
        const built = await buildTree(world, service, deploy, root, log, limited)
        try {
          await lift(world, service, deploy, built.id, built.publishDirectory, files, limited)
        } finally {
          await world.engine.images.remove(built.reference)
        }
      })
    }
    const count = await assertPublishable(files)
    await writeRules(partial, log)
    await rm(folder, { recursive: true, force: true })
    await rename(partial, folder)
    updateDeploy(deploy.id, { site_id: deploy.id })
    log.system(`publishing ${count} file${count === 1 ? '' : 's'}`)
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** Without a build command, only a `build` script of a package.json says that there is something to build. */
async function isTakenAsItIs(service: ServiceRow, root: string): Promise<boolean> {
  if (service.runtime === 'static') {
    if (service.build_command === null) return true
    throw new BuildFailure(
      'the runtime static takes the files as they are: clear build_command, or set runtime to auto',
    )
  }
  if (service.runtime !== 'auto' || service.build_command !== null || service.dockerfile_path !== null)
    return false
  const manifest = await new Tree(root).readText('package.json')
  return manifest === null || !/"build"\s*:/.test(manifest)
}

async function copyFolder(service: ServiceRow, root: string, files: string, log: LogWriter): Promise<void> {
  const name = service.publish_dir ?? '.'
  log.system(`taking ${name === '.' ? 'the files' : name} as they are`)
  const real = await realpath(join(root, name)).catch(() => null)
  const isInside = real !== null && !/^\.\.(\/|$)/.test(relative(root, real))
  if (!isInside || !(await stat(real)).isDirectory())
    throw new BuildFailure(`publish_dir ${name} is no folder of the source: correct it`)
  // Both lie in the data directory; what is a mount of its own inside it is copied.
  await rename(real, files).catch(() => cp(real, files, { recursive: true, verbatimSymlinks: true }))
}

async function lift(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  imageId: string,
  planned: string | null,
  files: string,
  signal: AbortSignal,
): Promise<void> {
  const publishDirectory = service.publish_dir ?? planned
  if (publishDirectory === null) {
    throw new BuildFailure(
      'it is not known which folder to publish: set publish_dir to the folder that the build makes, such as dist',
    )
  }
  const image = await world.engine.images.inspect(imageId)
  const workdir = image?.workdir ?? '/'
  await liftFolder(world, { deployId: deploy.id, imageId, workdir, publishDirectory }, files, signal)
}

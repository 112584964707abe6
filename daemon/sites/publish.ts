import { mkdir, rename } from 'node:fs/promises'
import { siteFolder } from '#server/deploys/folders.ts'
import { advance } from '#server/deploys/progress.ts'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import type { LogWriter } from '#server/logs/files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { BuildFailure } from '#plans/index.ts'
import type { BuiltImage } from '../builds/build.ts'
import { pullImage } from '../builds/pull.ts'
import type { Recipe } from '../builds/recipe.ts'
import type { SourceTree } from '../builds/source-tree.ts'
import { withinBuildTimeout } from '../builds/time-limit.ts'
import { clearTree, removeTree } from '../sources/remove-tree.ts'
import type { World } from '../world.ts'
import { liftFolder } from './lift.ts'
import { TAKE_FOLDER, type FinishedSite } from './reader-calls.ts'

/** Thrown when the published files cannot be a site; `message` becomes the deploy's error. */
class SiteFailure extends Error {
  override readonly name = 'SiteFailure'
}

/** Publishes a folder of a source as it is. Throws BuildFailure when there is no such folder, or SiteFailure. */
export function publishFolder(
  deploy: DeployRow,
  source: SourceTree,
  { publishDirectory, singlePage }: Recipe,
  log: LogWriter,
): Promise<boolean> {
  return publish(deploy, log, (folder) =>
    source.ask(TAKE_FOLDER, {
      root: source.root,
      publishDirectory: publishDirectory ?? '.',
      folder,
      singlePage,
    }),
  )
}

/** Publishes a folder of a built image, and removes the image. Throws BuildFailure or SiteFailure. */
export async function publishBuilt(
  world: World,
  deploy: DeployRow,
  image: BuiltImage,
  recipe: Recipe,
  log: LogWriter,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await publish(deploy, log, (folder) =>
      withinBuildTimeout('publishing what was built', signal, (limited) =>
        lift(world, deploy, image.id, recipe, folder, limited),
      ),
    )
  } finally {
    await world.engine.images.remove(image.reference)
  }
}

/** Publishes a folder of an image that was built elsewhere. Throws BuildFailure or SiteFailure. */
export async function publishImage(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<boolean> {
  const { id } = await pullImage(world, deploy, log, signal)
  const site = { publishDirectory: service.publish_dir, singlePage: false }
  return await publish(deploy, log, (folder) =>
    withinBuildTimeout('publishing the image', signal, (limited) =>
      lift(world, deploy, id, site, folder, limited),
    ),
  )
}

/**
 * Creates the published folder of a deploy with what `fill` puts into it, and moves the deploy to its next status. Returns
 * false when the deploy was canceled in the meantime. Throws SiteFailure when nothing in the folder answers `/`.
 */
async function publish(
  deploy: DeployRow,
  log: LogWriter,
  fill: (folder: string) => Promise<FinishedSite>,
): Promise<boolean> {
  log.steps.begin('publish', 'Publish the files')
  const folder = siteFolder(deploy.id)
  const partial = `${folder}.partial`
  try {
    await removeTree(partial)
    await mkdir(partial, { mode: PRIVATE_DIRECTORY_MODE, recursive: true })
    const { files, notes, fault } = await fill(partial)
    for (const note of notes) log.system(note)
    if (fault !== null) {
      if (!advance(deploy, 'deploying')) return false
      throw new SiteFailure(fault)
    }
    await removeTree(folder)
    await rename(partial, folder)
    updateDeploy(deploy.id, { site_id: deploy.id })
    log.system(`publishing ${files} file${files === 1 ? '' : 's'}`)
    return advance(deploy, 'deploying')
  } finally {
    await clearTree(partial)
  }
}

async function lift(
  world: World,
  deploy: DeployRow,
  imageId: string,
  { publishDirectory, singlePage }: Pick<Recipe, 'publishDirectory' | 'singlePage'>,
  folder: string,
  signal: AbortSignal,
): Promise<FinishedSite> {
  if (publishDirectory === null) {
    throw new BuildFailure(
      'the folder to publish is not known: set publish_dir to the folder that the build creates, such as dist',
    )
  }
  const image = await world.engine.images.inspect(imageId)
  const workdir = image?.workdir ?? '/'
  const wanted = { deployId: deploy.id, imageId, workdir, publishDirectory, singlePage }
  return liftFolder(world, wanted, folder, signal)
}

import { availableParallelism, totalmem } from 'node:os'
import { resolveVariables, type ImageFacts } from '#server/deploys/snapshot.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import type { BuildLimits } from '../engine/index.ts'
import type { World } from '../world.ts'
import { packContext } from './context.ts'
import { chooseRecipe } from './recipe.ts'
import { withSourceTree } from './source-tree.ts'
import { imageTag } from './tags.ts'

/** What a build made: the engine's id, the reference that keeps it, the ports it exposes. */
export interface BuiltImage extends ImageFacts {
  reference: string
  /** Where the plan knows that a site's files end up, relative to the image's working directory. */
  publishDirectory: string | null
}

/**
 * Builds a deploy's image from its repository or archive, within `--build-timeout`.
 * Throws BuildFailure for faults of the source, its plan or its build.
 */
export function buildImage(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  return withSourceTree(service, deploy, log, signal, (root, limited) =>
    buildTree(world, service, deploy, root, log, limited),
  )
}

/** What is left to everything else on the host while builds run. */
const MEMORY_SHARE = 0.75
const SPARED_CPUS = 0.25
/** Threads count: compilers and bundlers side by side take hundreds, a fork bomb would take the host's. */
const MAX_PIDS = 8_192

/** What all builds together may take, so that they leave the host usable. */
function buildLimits(): BuildLimits {
  return {
    memoryBytes: Math.floor(totalmem() * MEMORY_SHARE),
    cpus: Math.max(1, availableParallelism()) - SPARED_CPUS,
    pids: MAX_PIDS,
  }
}

/** Builds the tree in `root` as its recipe says. */
export async function buildTree(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  root: string,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const variables = resolveVariables(service)
  const recipe = await chooseRecipe(service, root, variables, log)
  const reference = imageTag(service.id, deploy.id)
  const context = await packContext(root, recipe.file)
  for (const note of context.notes) log.system(note)
  const unlimited = world.engine.limitBuilds(buildLimits())
  if (unlimited.length > 0) {
    log.system(
      `builds cannot be limited here in ${unlimited.join(', ')}; the time limit and --build-concurrency hold`,
    )
  }
  const id = await world.engine.images.build(context.tar, {
    tag: reference,
    dockerfile: context.dockerfilePath,
    // A declared argument stays in the image's history; the secrets do not.
    buildArgs: Object.fromEntries(
      Object.entries(variables).filter(([key]) => recipe.declaredArguments.includes(key)),
    ),
    labels: { 'deployer-image.service': service.id, 'deployer-image.deploy': deploy.id },
    noCache: deploy.clear_cache === 1,
    secrets: variables,
    signal,
    onLine: (line, stream) => log.output(stream, line),
  })
  const image = await world.engine.images.inspect(id)
  return {
    id,
    reference,
    exposedPorts: image?.exposedPorts ?? [],
    publishDirectory: recipe.publishDirectory,
  }
}

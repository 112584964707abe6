import { availableParallelism, totalmem } from 'node:os'
import { useContext } from '#server/context.ts'
import { resolveVariables, type ImageFacts } from '#server/deploys/snapshot.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import type { ServiceType } from '#server/services/types.ts'
import type { BuildLimits } from '../engine/index.ts'
import type { World } from '../world.ts'
import { dockerfilePathOf } from './context.ts'
import type { ProcessType } from './plans/plan.ts'
import { CHOOSE_RECIPE } from './jobs.ts'
import type { RecipeChoice } from './recipe.ts'
import { SentContext } from './sent-context.ts'
import { withSourceTree, type SourceTree } from './source-tree.ts'
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
  return withSourceTree(service, deploy, log, signal, (source, limited) =>
    buildTree(world, service, deploy, source, log, limited),
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

/** Builds a source as its recipe says; its files are gone when the engine has them. */
export async function buildTree(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  source: SourceTree,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const variables = resolveVariables(service)
  const { root, reader } = source
  const recipe = await reader.ask(CHOOSE_RECIPE, { root, choice: choiceOf(service, variables) })
  for (const note of recipe.notes) log.system(note)
  const reference = imageTag(service.id, deploy.id)
  const unlimited = world.engine.limitBuilds(buildLimits())
  if (unlimited.length > 0) {
    log.system(
      `builds cannot be limited here in ${unlimited.join(', ')}; the time limit and --build-concurrency hold`,
    )
  }
  const context = new SentContext(source, recipe.file)
  const id = await world.engine.images
    .build(context.tar, {
      tag: reference,
      dockerfile: dockerfilePathOf(recipe.file),
      // A declared argument stays in the image's history; the secrets do not.
      buildArgs: Object.fromEntries(recipe.declaredArguments.map((name) => [name, variables[name]!])),
      labels: { 'deployer-image.service': service.id, 'deployer-image.deploy': deploy.id },
      noCache: deploy.clear_cache === 1,
      secrets: variables,
      signal,
      onLine: (line, stream) => log.output(stream, line),
    })
    .catch((error: unknown) => {
      // The engine only says that the context broke off.
      throw context.fault ?? error
    })
  const image = await world.engine.images.inspect(id)
  return {
    id,
    reference,
    exposedPorts: image?.exposedPorts ?? [],
    publishDirectory: recipe.publishDirectory,
  }
}

/** What a plan makes the image for. */
const PROCESS_TYPES = {
  web_service: 'web',
  private_service: 'web',
  background_worker: 'worker',
  cron_job: 'job',
  static_site: 'static',
} as const satisfies Record<ServiceType, ProcessType>

/** What the service says about its build. Of the variables only their names, and whether one has changed. */
function choiceOf(service: ServiceRow, variables: Record<string, string>): RecipeChoice {
  const { options, vault } = useContext()
  return {
    runtime: service.runtime,
    dockerfilePath: service.dockerfile_path,
    isSite: service.type === 'static_site',
    settings: {
      buildCommand: service.build_command,
      startCommand: service.start_command,
      baseImageRegistry: options.baseImageRegistry,
      secretNames: Object.keys(variables),
      secretsDigest: vault.fingerprint(JSON.stringify(variables)),
      aptPackages: [],
      cacheScope: service.id,
      processType: PROCESS_TYPES[service.type],
    },
  }
}

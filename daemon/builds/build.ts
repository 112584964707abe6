import { availableParallelism, totalmem } from 'node:os'
import { useContext } from '#server/context.ts'
import type { BuildSecrets, ImageFacts } from '#server/deploys/snapshot.ts'
import { cacheScope, type DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { aptPackagesOf, type ServiceRow } from '#server/services/store.ts'
import { BuildFailure } from '#plans/index.ts'
import type { BuildLimits } from '../engine/index.ts'
import type { World } from '../world.ts'
import { dockerfilePathOf, type BuildFile } from './context.ts'
import { CHOOSE_RECIPE, READ_SEPARATE_FILES } from './reader-calls.ts'
import type { Recipe, RecipeChoice } from './recipe.ts'
import { registriesOf, registryAuthFor } from './registry-auth.ts'
import { SentContext } from './sent-context.ts'
import type { SourceTree } from './source-tree.ts'
import { imageTag } from './tags.ts'
import { withinBuildTimeout } from './time-limit.ts'

/** A built image: the engine's id, the reference that keeps it, the ports that it exposes. */
export interface BuiltImage extends ImageFacts {
  reference: string
}

/** Builds leave the rest of the memory and processors to everything else on the host. */
const MEMORY_SHARE = 0.75
const SPARED_CPUS = 0.25
/** Threads count too: concurrent compilers and bundlers need hundreds, and a fork bomb would take all that the host has. */
const MAX_PIDS = 8_192

/** The limits of all builds together, so that they leave the host usable. */
function buildLimits(): BuildLimits {
  return {
    memoryBytes: Math.floor(totalmem() * MEMORY_SHARE),
    cpus: Math.max(1, availableParallelism()) - SPARED_CPUS,
    pids: MAX_PIDS,
  }
}

/**
 * Builds a source by its recipe, within `--build-timeout`. The files are removed as soon as the engine has them. Throws
 * BuildFailure for faults in the source or its build.
 */
export function buildTree(
  world: World,
  deploy: DeployRow,
  source: SourceTree,
  recipe: BuildRecipe,
  secrets: BuildSecrets,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const work = (limited: AbortSignal): Promise<BuiltImage> =>
    build(world, deploy, source, recipe, secrets, log, limited)
  return withinBuildTimeout('the build', signal, work, 'make it faster')
}

/** A recipe that builds an image. */
export type BuildRecipe = Recipe & { file: BuildFile }

async function build(
  world: World,
  deploy: DeployRow,
  source: SourceTree,
  recipe: BuildRecipe,
  secrets: BuildSecrets,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  log.steps.begin('prepare', 'Prepare the build')
  const reference = imageTag(deploy.service_id, deploy.id)
  const unlimited = world.engine.limitBuilds(buildLimits())
  if (unlimited.length > 0) {
    log.system(
      `these limits of builds cannot be set here: ${unlimited.join(', ')}; the time limit and --build-concurrency still apply`,
    )
  }
  // Only Docker's own BuildKit takes a Dockerfile that is not part of the context.
  const isDocker = (await world.engine.dockerfileFrontend()) !== undefined
  const separate = isDocker
    ? await source.ask(READ_SEPARATE_FILES, { root: source.root, file: recipe.file })
    : null
  const context = new SentContext(source, recipe, separate !== null, (note) => log.system(note))
  const id = await world.engine.images
    .build(context.tar, {
      tag: reference,
      dockerfile: dockerfilePathOf(recipe.file),
      ...(separate && { separate }),
      // A declared argument stays in the image's history; the secrets do not.
      buildArgs: Object.fromEntries(recipe.declaredArguments.map((name) => [name, secrets.variables[name]!])),
      labels: { 'deployer-image.service': deploy.service_id, 'deployer-image.deploy': deploy.id },
      noCache: deploy.clear_cache === 1,
      // A variable and a file may have the same name; plans need the variable.
      secrets: { ...Object.fromEntries(secrets.files), ...secrets.variables },
      registryAuth: registryAuthFor({
        serviceId: deploy.service_id,
        images: recipe.images,
        onChosen: (name, registry) =>
          log.system(`signing in at ${registry} with the registry credential ${name}`),
      }),
      registries: registriesOf(recipe.images),
      signal,
      onLine: (line, stream, step) => log.output(stream, line, step),
      onStep: (step) => log.steps.build(step),
    })
    .catch((error: unknown) => {
      // The engine only reports that the context ended early.
      throw context.fault ?? error
    })
  const image = await world.engine.images.inspect(id)
  return { id, reference, exposedPorts: image?.exposedPorts ?? [] }
}

/**
 * Finds out how to build and run a deploy's source, and writes that to its log, as detection shows it. Throws BuildFailure
 * if the result cannot go live.
 */
export async function recipeOf(
  { engine }: World,
  service: ServiceRow,
  source: SourceTree,
  secrets: BuildSecrets,
  log: LogWriter,
): Promise<Recipe> {
  log.steps.begin('plan', 'Plan the build')
  const choice = { ...choiceOf(service, secrets), frontend: await engine.dockerfileFrontend() }
  const recipe = await source.ask(CHOOSE_RECIPE, { place: source.place, choice })
  for (const note of recipe.notes) log.system(note)
  if (recipe.obstacle !== null) throw new BuildFailure(recipe.obstacle)
  return recipe
}

/** The service's settings for its build. Of its secrets it has only the names, and a digest that shows changes. */
function choiceOf(service: ServiceRow, { variables, files }: BuildSecrets): RecipeChoice {
  const { options, vault } = useContext()
  return {
    type: service.type,
    runtime: service.runtime,
    dockerfilePath: service.dockerfile_path,
    publishDirectory: service.publish_dir,
    settings: {
      buildCommand: service.build_command,
      startCommand: service.start_command,
      preDeployCommand: service.pre_deploy_command,
      aptPackages: aptPackagesOf(service),
      baseImageRegistry: options.baseImageRegistry,
      cacheScope: cacheScope(service.id),
      secretNames: Object.keys(variables),
      secretFiles: [...files.keys()].filter((name) => !Object.hasOwn(variables, name)),
      secretsDigest: vault.fingerprint(JSON.stringify(files.size > 0 ? [variables, [...files]] : variables)),
    },
  }
}

import { useContext } from '#server/context.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import type { ServiceType } from '#server/services/types.ts'
import { Tree } from '../sources/tree.ts'
import type { BuildFile } from './context.ts'
import { BuildFailure } from './failure.ts'
import { choosePlan } from './plans/index.ts'

/** How a tree becomes an image. */
export interface Recipe {
  file: BuildFile
  /** The names that the user's own Dockerfile declares with ARG; a plan declares none. */
  declaredArguments: string[]
  /** Where the plan knows that a site's files end up, relative to the image's working directory. */
  publishDirectory: string | null
}

const DEFAULT_DOCKERFILE = 'Dockerfile'

/** What a plan makes the image for. */
const PROCESS_TYPES = {
  web_service: 'web',
  private_service: 'web',
  background_worker: 'worker',
  cron_job: 'job',
  static_site: 'static',
} as const satisfies Record<ServiceType, string>

/**
 * Chooses the recipe: `docker` takes the Dockerfile, a language its plan, `auto` the Dockerfile when there is one, else
 * the first plan that fits. Throws BuildFailure that says what was looked for.
 */
export async function chooseRecipe(
  service: ServiceRow,
  root: string,
  variables: Record<string, string>,
  log: LogWriter,
): Promise<Recipe> {
  const path = service.dockerfile_path ?? DEFAULT_DOCKERFILE
  const dockerfile = await new Tree(root).readText(path)
  const isWanted = service.runtime === 'docker' || service.dockerfile_path !== null
  // A site's Dockerfile is most often one that serves it; only one that is asked for builds it.
  const isTaken = service.runtime === 'auto' && dockerfile !== null && service.type !== 'static_site'
  if (isWanted || isTaken) {
    if (dockerfile === null) {
      throw new BuildFailure(`there is no ${path} in the source: add it, or set dockerfile_path or root_dir`)
    }
    log.system(`building with ${path}`)
    return {
      file: { kind: 'tree', path },
      declaredArguments: argumentsOf(dockerfile),
      publishDirectory: null,
    }
  }
  const { options, vault } = useContext()
  const plan = await choosePlan(service.runtime, root, {
    buildCommand: service.build_command,
    startCommand: service.start_command,
    baseImageRegistry: options.baseImageRegistry,
    secretNames: Object.keys(variables),
    secretsDigest: vault.fingerprint(JSON.stringify(variables)),
    processType: PROCESS_TYPES[service.type],
  })
  log.system(`building with the plan for ${plan.name}`)
  for (const note of plan.notes) log.system(note)
  return {
    file: { kind: 'plan', content: plan.dockerfile, ignore: plan.ignore },
    declaredArguments: [],
    publishDirectory: plan.publishDirectory,
  }
}

/** The names after each ARG instruction; more than one may stand on a line. */
function argumentsOf(dockerfile: string): string[] {
  return [...dockerfile.matchAll(/^[ \t]*ARG[ \t]+(.+)$/gim)].flatMap(([, rest]) =>
    rest!
      .trim()
      .split(/\s+/)
      .map((word) => word.split('=')[0]!),
  )
}

import { applyFile } from '#server/blueprints/apply.ts'
import { hashPasswords } from '#server/blueprints/passwords.ts'
import type { FileContext } from '#server/blueprints/read.ts'
import { readBlueprintAside } from '#server/blueprints/reading-thread.ts'
import type { BlueprintResult } from '#server/blueprints/schema.ts'
import type { ApplyOptions } from '#server/blueprints/work.ts'
import { provideAuthority } from '#server/datastores/authority.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { ROUTING_FIELDS } from '#server/services/store.ts'
import { provideNetwork } from '../environments/provide.ts'
import { routed } from '../proxy/routed.ts'
import type { World } from '../world.ts'

const log = logger('blueprints')

/**
 * Applies a file, creates the networks of its new environments and waits for changed routes. Throws `invalid_request` with
 * every fault.
 */
export async function applyBlueprint(
  world: World,
  text: string,
  context: FileContext,
  options: ApplyOptions,
): Promise<BlueprintResult> {
  const environment = findEnvironment(context.environment).name
  const file = await readBlueprintAside(text, { ...context, environment })
  // The services of the file may refer to the certificate of its datastores.
  if (file.project.datastores.length > 0) await provideAuthority()
  const hashes = await hashPasswords(file.project)
  const { madeEnvironments, ...result } = applyFile(file, { ...options, hashes })
  if (options.dryRun) return result
  for (const name of madeEnvironments) {
    // If the engine is away, the deploys say so, and the environments are tried again later.
    await provideNetwork(world, findEnvironment(name)).catch((error: unknown) =>
      log.warn('the network of a new environment could not be created yet', {
        environment: name,
        error: messageOf(error),
      }),
    )
  }
  if (changesRoutes(result)) await routed(world)
  return result
}

const ROUTING: ReadonlySet<string | undefined> = new Set(ROUTING_FIELDS)

function changesRoutes({ actions }: BlueprintResult): boolean {
  return actions.some(({ changes }) => changes.some((change) => ROUTING.has(/^\w+/.exec(change)?.[0])))
}

import { useContext } from '#server/context.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import { rejectMetadata, removeRules } from '../packet-filter/index.ts'
import { withHostCommands } from './host-commands.ts'

/** The bridge through which containers in an overlay get out of their node; Docker makes it for the first of them. */
const WAY_OUT = 'docker_gwbridge'

/**
 * Has the host of another node reject connections from containers to link-local and metadata addresses, as the server's own
 * does; with `--allow-metadata` there are no such rules. Returns false while nothing gets out of it yet, which the look at its
 * network changes. Throws one line that says why they cannot be set.
 */
export async function guardMetadataOn(
  engine: Engine,
  image: string,
  overlays: readonly string[],
): Promise<boolean> {
  const { serverId, options } = useContext()
  if (options.allowMetadata) {
    await unguardMetadataOn(engine, image)
    return true
  }
  const wayOut = await engine.networks.inspect(WAY_OUT)
  if (!wayOut) return false
  await withHostCommands(engine, image, (run) =>
    rejectMetadata(serverId, [...wayOut.subnets, ...overlays], run),
  )
  return true
}

/** Removes these rules. Throws `runtime_error`. */
export async function unguardMetadataOn(engine: Engine, image: string): Promise<void> {
  await withHostCommands(engine, image, (run) => removeRules(useContext().serverId, run))
}

/** The subnets of the networks across the nodes. */
export function overlaySubnets(): string[] {
  return listEnvironments().flatMap(({ overlay_subnet }) => overlay_subnet ?? [])
}

/** What it means that the rules could not be set. */
export function metadataFault(error: unknown): string {
  return `containers on it can reach link-local and metadata addresses, where clouds hand out credentials: ${messageOf(error)}`
}

import { DEFAULT_PORT, portOf } from '../services/ports.ts'
import type { ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { resolveEnvironment } from '../variables/environment.ts'
import type { Snapshot } from './store.ts'

/** What the chosen image says of itself. */
export interface ImageFacts {
  id: string
  exposedPorts: number[]
}

/**
 * The variables of a service as its containers and builds get them: its groups' and its own, references resolved.
 * Throws `conflict` that names what a reference misses.
 */
export function resolveVariables(service: ServiceRow): Record<string, string> {
  return Object.fromEntries(resolveEnvironment(service))
}

/** Fixes what a deploy runs with: the image and all settings of now. */
export function takeSnapshot(service: ServiceRow, image: ImageFacts): Snapshot {
  const variables = resolveVariables(service)
  const { listens } = TYPES[service.type]
  const chosen = chosenPort(service, variables.PORT, image)
  const port = listens ? (chosen ?? DEFAULT_PORT) : null
  return {
    image_id: image.id,
    start_command: service.start_command,
    env: port === null ? variables : { ...variables, PORT: String(port) },
    port,
    is_port_chosen: chosen !== null,
    health_check_path: service.health_check_path,
    disk_mount_path: service.disk_mount_path,
    memory_limit_mb: service.memory_limit_mb,
    cpu_limit: service.cpu_limit,
  }
}

/** A rollback restores the old snapshot, with the limits of now. */
export function restoreSnapshot(old: Snapshot, service: ServiceRow): Snapshot {
  return { ...old, memory_limit_mb: service.memory_limit_mb, cpu_limit: service.cpu_limit }
}

/** `port`, else the user's PORT, else the image's only EXPOSEd TCP port. */
function chosenPort(service: ServiceRow, variable: string | undefined, image: ImageFacts): number | null {
  const exposed = image.exposedPorts.length === 1 ? image.exposedPorts[0]! : null
  return service.port ?? portOf(variable) ?? exposed
}

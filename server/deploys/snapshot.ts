import { DEFAULT_PORT, portOf } from '../services/ports.ts'
import type { ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { resolveEnvironment } from '../variables/environment.ts'
import { getDeploy, openSnapshot, type PlannedRun, type Snapshot } from './store.ts'

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

/** Fixes what a deploy runs with: the image, all settings of now, and what its source says where they say nothing. */
export function takeSnapshot(service: ServiceRow, image: ImageFacts, planned: PlannedRun): Snapshot {
  const variables = resolveVariables(service)
  const { listens } = TYPES[service.type]
  const chosen = chosenPort(service, variables.PORT, image)
  const port = listens ? (chosen ?? planned.port ?? foundPort(service) ?? DEFAULT_PORT) : null
  return {
    image_id: image.id,
    start_command: service.start_command ?? planned.start_command ?? null,
    env: port === null ? variables : { ...variables, PORT: String(port) },
    port,
    is_port_chosen: chosen !== null,
    health_check_path: service.health_check_path ?? (listens ? planned.health_check_path : null),
    pre_deploy_command: service.pre_deploy_command ?? planned.pre_deploy_command,
    planned,
    disk_mount_path: service.disk_mount_path,
    memory_limit_mb: service.memory_limit_mb,
    cpu_limit: service.cpu_limit,
  }
}

/** The port that the live version was found on: the next one most likely listens there too. */
function foundPort({ live_deploy_id }: ServiceRow): number | null {
  const live = live_deploy_id === null ? undefined : getDeploy(live_deploy_id)
  const snapshot = live ? openSnapshot(live) : null
  return snapshot === null || snapshot.is_port_chosen ? null : snapshot.port
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

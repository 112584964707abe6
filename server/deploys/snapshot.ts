import { filesOf } from '../secret-files/effective.ts'
import { DEFAULT_PORT, portOf } from '../services/ports.ts'
import { disksOf } from '../disks/list.ts'
import type { ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { resolveEnvironment } from '../variables/environment.ts'
import { getDeploy, openSnapshot, type PlannedRun, type Snapshot } from './store.ts'

/** What the chosen image says about itself. */
export interface ImageFacts {
  id: string
  exposedPorts: number[]
}

/**
 * The variables of a service as its containers and builds get them: its groups' and its own, references resolved.
 * Throws `conflict` that names what a reference cannot find.
 */
export function resolveVariables(service: ServiceRow): Record<string, string> {
  return Object.fromEntries(resolveEnvironment(service))
}

/** What a build sees, each value as a secret of its name. */
export interface BuildSecrets {
  variables: Record<string, string>
  files: Map<string, Buffer>
}

/** What a build of a service sees. Throws what `resolveVariables` throws. */
export function buildSecrets(service: ServiceRow): BuildSecrets {
  const files = filesOf(service).map(({ name, content }) => [name, Buffer.from(content, 'base64')] as const)
  return { variables: resolveVariables(service), files: new Map(files) }
}

/** Fixes what a deploy runs with: the image, the current settings, and what its source says where they are not set. */
export function takeSnapshot(service: ServiceRow, image: ImageFacts, planned: PlannedRun): Snapshot {
  const variables = resolveVariables(service)
  const { listens } = TYPES[service.type]
  const chosen = chosenPort(service, variables.PORT, image)
  const port = listens ? (chosen ?? planned.port ?? foundPort(service) ?? DEFAULT_PORT) : null
  return {
    image_id: image.id,
    start_command: service.start_command ?? planned.start_command ?? null,
    env: port === null ? variables : { ...variables, PORT: String(port) },
    secret_files: filesOf(service),
    port,
    is_port_chosen: chosen !== null,
    health_check_path: service.health_check_path ?? (listens ? planned.health_check_path : null),
    pre_deploy_command: service.pre_deploy_command ?? planned.pre_deploy_command,
    planned,
    disks: disksOf(service),
    memory_limit_mb: service.memory_limit_mb,
    cpu_limit: service.cpu_limit,
  }
}

/** The port on which the live version was found to listen: the next version most likely does too. */
function foundPort({ live_deploy_id }: ServiceRow): number | null {
  const live = live_deploy_id === null ? undefined : getDeploy(live_deploy_id)
  const snapshot = live ? openSnapshot(live) : null
  return snapshot === null || snapshot.is_port_chosen ? null : snapshot.port
}

/** A rollback restores the old snapshot, with the current limits. */
export function restoreSnapshot(old: Snapshot, service: ServiceRow): Snapshot {
  return { ...old, memory_limit_mb: service.memory_limit_mb, cpu_limit: service.cpu_limit }
}

/** The `port` setting, or else the user's PORT variable, or else the image's only EXPOSEd TCP port. */
function chosenPort(service: ServiceRow, variable: string | undefined, image: ImageFacts): number | null {
  const exposed = image.exposedPorts.length === 1 ? image.exposedPorts[0]! : null
  return service.port ?? portOf(variable) ?? exposed
}

import type Docker from 'dockerode'
import type { Connection } from './connection.ts'
import { nameOf } from './container-state.ts'
import { labelFilter } from './labels.ts'
import type { Ledger } from './ledger.ts'

/** Something in the engine that has this server's label but no record of it. */
export interface Stray {
  kind: 'container' | 'volume' | 'network'
  name: string
}

/**
 * Lists what has this server's label but no record of it, such as what was created after the moment to which the server was
 * restored. Throws `runtime_error`, or the signal's reason.
 */
export async function findStrays(
  connection: Connection,
  serverId: string,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<Stray[]> {
  const filters = { label: labelFilter(serverId) }
  // What is removed meanwhile was recorded before; what is created meanwhile is recorded afterwards.
  const known = knownNames(ledger)
  const [containers, volumes, networks] = await Promise.all([
    connection.call(
      'listing containers',
      (docker, abortSignal) =>
        docker.listContainers({ all: true, filters, abortSignal } as Docker.ContainerListOptions),
      { signal },
    ),
    connection.call(
      'listing volumes',
      (docker, abortSignal) => docker.listVolumes({ filters, abortSignal } as Docker.VolumeListOptions),
      { signal },
    ),
    connection.call(
      'listing networks',
      (docker, abortSignal) => docker.listNetworks({ filters, abortSignal } as Docker.NetworkListOptions),
      { signal },
    ),
  ])
  const knownNow = knownNames(ledger)
  const found = [
    ...containers.map((each) => ({ kind: 'container' as const, id: each.Id, name: nameOf(each) })),
    ...(volumes.Volumes ?? []).map(({ Name }) => ({ kind: 'volume' as const, id: Name, name: Name })),
    ...networks.map(({ Id, Name }) => ({ kind: 'network' as const, id: Id, name: Name })),
  ]
  const isKnown = (kind: Stray['kind'], name: string): boolean =>
    known[kind].has(name) || knownNow[kind].has(name)
  return found
    .filter(({ kind, id, name }) => !isKnown(kind, id) && !isKnown(kind, name))
    .map(({ kind, name }) => ({ kind, name }))
}

/** The recorded names and ids of each kind. */
function knownNames(ledger: Ledger): Record<Stray['kind'], Set<string | null>> {
  const of = (kind: Stray['kind']) =>
    new Set(ledger.list(kind).flatMap(({ name, engine_id }) => [name, engine_id]))
  return { container: of('container'), volume: of('volume'), network: of('network') }
}

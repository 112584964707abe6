import type { Engine } from './engine/index.ts'
import type { DataPlane } from './proxy/data-plane.ts'

/** What the tasks act on: the container engine and the data plane. */
export interface World {
  engine: Engine
  dataPlane: DataPlane
  /** Whether containers are reached by their address, else by a port published on loopback; null until the engine was asked. */
  reachByAddress: boolean | null
  /** Why the engine did not answer when it was last asked; null when it did, or was not asked yet. */
  engineFault: string | null
  /** Why containers reach metadata addresses although they should not; null while they do not. */
  metadataFault: string | null
  /** How often the engine has gone away since the start of the server, as the ends of its events tell. */
  engineDepartures: number
}

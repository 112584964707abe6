import type { Engine } from './engine/index.ts'
import type { DataPlane } from './proxy/data-plane.ts'

/** What the tasks act on: the container engine and the data plane. */
export interface World {
  engine: Engine
  dataPlane: DataPlane
  /** Whether containers are reached by address, not by a published loopback port; null until the engine was asked. */
  reachByAddress: boolean | null
  /** Why the engine did not answer when it was last asked; null when it did, or was not asked yet. */
  engineFault: string | null
  /** Why containers can reach metadata addresses although they should not; null while they cannot. */
  metadataFault: string | null
  /** How often the engine has gone away since the server started, counted by the ends of its event stream. */
  engineDepartures: number
}

import type { Engine } from './engine/index.ts'
import type { NodeEngine } from './nodes/engines.ts'
import type { Machines } from './nodes/machines.ts'
import type { DataPlane } from './proxy/data-plane.ts'

/** What the tasks act on: the container engines and the data plane. */
export interface World {
  /** The engine of the server's own node: builds, and all on a server of one node. */
  engine: Engine
  /** The engine of a node. Throws `runtime_error` when there is no such node (any more). */
  engineOf(nodeId: string): Engine
  /** The nodes whose engines answer, own first, with their engines. */
  engines(): NodeEngine[]
  machines: Machines
  dataPlane: DataPlane
  /** Whether containers are reached by address, not by a published loopback port; null until the engine was asked. */
  reachByAddress: boolean | null
  /** Why the own engine did not answer when it was last asked; null when it did, or was not asked yet. */
  engineFault: string | null
  /** Why containers can reach metadata addresses although they should not; null while they cannot. */
  metadataFault: string | null
  /** How often the own engine has gone away since the server started, counted by the ends of its event stream. */
  engineDepartures: number
  /** The same of the engines of other nodes, by the node's id. */
  departuresOfOthers: Map<string, number>
}

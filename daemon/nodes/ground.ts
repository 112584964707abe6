import type { Engine } from '../engine/index.ts'

/** What the nodes need of the rest of the server. */
export interface Ground {
  engine: Engine
  /** Whether containers are reached by address; null until the own engine was asked. */
  reachByAddress: () => boolean | null
  /** Makes networks fit the nodes that there are. Called after one has joined or left. */
  nodesChanged: () => Promise<void>
  /** Ends the entry of a node that leaves, if it is one. Throws `runtime_error`. */
  endEntry: (nodeId: string) => Promise<void>
}

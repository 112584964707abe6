/** What an engine says about itself that several machines depend on. */
export interface SwarmInfo {
  /** Whether it is in a swarm, or about to be; `inactive` when it is in none. */
  state: string
  /** Its id there; null outside of one. */
  nodeId: string | null
  isManager: boolean
  /** The id of the swarm itself; null outside of one, on a worker, and while no leader answers. */
  swarmId: string | null
  /** The ids of the managers that a worker knows. */
  managers: string[]
  /** Swarm cannot keep containers while the engine restarts. */
  liveRestore: boolean
}

/** An engine's answer. */
export interface RawInfo {
  LiveRestoreEnabled?: boolean
  Swarm?: {
    NodeID?: string
    LocalNodeState?: string
    ControlAvailable?: boolean
    Cluster?: { ID?: string } | null
    RemoteManagers?: { NodeID: string }[] | null
  }
}

export function infoOf({ LiveRestoreEnabled = false, Swarm = {} }: RawInfo): SwarmInfo {
  return {
    state: Swarm.LocalNodeState ?? 'inactive',
    nodeId: Swarm.NodeID || null,
    isManager: Swarm.ControlAvailable ?? false,
    swarmId: Swarm.Cluster?.ID || null,
    managers: (Swarm.RemoteManagers ?? []).map((manager) => manager.NodeID),
    liveRestore: LiveRestoreEnabled,
  }
}

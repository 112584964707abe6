import type { ManagerState } from '#server/nodes/manager-states.ts'
import { NANOSECONDS } from './swarm-service.ts'

/** A machine of the swarm. */
export interface SwarmNode {
  id: string
  hostName: string
  /** Where the manager reaches it. */
  address: string
  /** `ready`, `down`, `unknown` or `disconnected`. */
  state: string
  message: string
  engineVersion: string
  architecture: string
  cpus: number
  memoryBytes: number
  /** Whether it is meant to be a manager. */
  isManager: boolean
  /** What it is as one; null for a worker, and while it becomes one. */
  managerState: ManagerState | null
}

/** Go's names of architectures; the swarm has the kernel's. */
const ARCHITECTURES: Record<string, string> = { x86_64: 'amd64', aarch64: 'arm64' }

/** A node in an answer of the engine. */
export interface RawNode {
  ID: string
  Description?: {
    Hostname?: string
    Engine?: { EngineVersion?: string }
    Platform?: { Architecture?: string }
    Resources?: { NanoCPUs?: number; MemoryBytes?: number }
  }
  Status?: { State?: string; Addr?: string; Message?: string }
  Spec?: { Role?: string }
  ManagerStatus?: { Leader?: boolean; Reachability?: string; Addr?: string }
}

export function nodeOf({ ID, Description = {}, Status = {}, Spec, ManagerStatus }: RawNode): SwarmNode {
  const machine = Description.Platform?.Architecture ?? ''
  return {
    id: ID,
    hostName: Description.Hostname ?? '',
    address: addressOf(Status.Addr ?? '', ManagerStatus?.Addr ?? ''),
    state: Status.State ?? 'unknown',
    message: Status.Message ?? '',
    engineVersion: Description.Engine?.EngineVersion ?? '',
    architecture: ARCHITECTURES[machine] ?? machine,
    cpus: (Description.Resources?.NanoCPUs ?? 0) / NANOSECONDS,
    memoryBytes: Description.Resources?.MemoryBytes ?? 0,
    isManager: Spec?.Role === 'manager',
    managerState: ManagerStatus ? stateOf(ManagerStatus) : null,
  }
}

/** A leader that was a worker before says 0.0.0.0 of itself; how the other managers reach it has a port. */
function addressOf(address: string, asManager: string): string {
  return address === '0.0.0.0' ? asManager.replace(/:\d+$/, '') : address
}

function stateOf({ Leader, Reachability }: NonNullable<RawNode['ManagerStatus']>): ManagerState {
  if (Reachability !== 'reachable') return 'unreachable'
  return Leader ? 'leader' : 'reachable'
}

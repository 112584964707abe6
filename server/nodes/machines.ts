import { AppError } from '../errors.ts'
import type { HostFigures, NodeCheck } from './schema.ts'

/** What the part that connects the machines does for the API. */
export interface Machines {
  /** How a machine joins from now on, and whether as an entry; ends what was answered before. Throws `conflict`. */
  invite(asEntry: boolean): Promise<{ command: string; token: string; expires_at: number; node_port: number }>
  /** Tries whether a node and each of the others reach each other. Throws `runtime_error`. */
  check(nodeId: string): Promise<NodeCheck>
  /** Makes a node leave, and deletes its record; of a lost one only the record. Throws `runtime_error`. */
  remove(nodeId: string, lost: boolean): Promise<void>
  /** What the host of another node last said that it uses; null while it says nothing. */
  hostFigures(nodeId: string): HostFigures | null
}

let provided: Machines | undefined

/** Provides what connects the machines, once it is at work. */
export function provideMachines(machines: Machines): void {
  provided = machines
}

/** What connects the machines; undefined before it is at work. */
export function machinesIfAny(): Machines | undefined {
  return provided
}

/** What connects the machines. Throws `conflict` before it is at work. */
export function useMachines(): Machines {
  if (!provided) throw new AppError('conflict', 'the server is about to go to work: try again in a minute')
  return provided
}

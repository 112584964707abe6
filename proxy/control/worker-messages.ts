import type { Sums } from '../counts.ts'

/** Who a worker is, the answer to `hello`. */
export interface WorkerHello {
  pid: number
  version: string
  incarnation: string
  /** Older programs say nothing of it. */
  protocol?: number
}

/** What a worker counts, as it tells its supervisors. */
export interface WorkerReport {
  incarnation: string
  /** The rows that changed since it told them last, or that this supervisor has not been told. */
  sums: Sums
  connections: number
  requests: number
}

/** What workers are given to encrypt session tickets with; node takes a name of 16 bytes and two keys of 16. */
export const TICKET_KEY_BYTES = 48

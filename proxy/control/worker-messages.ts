import type { Sums } from '../counts.ts'

/** How a worker introduces itself, the answer to `hello`. */
export interface WorkerHello {
  pid: number
  version: string
  incarnation: string
  /** Missing in older programs. */
  protocol?: number
}

/** The counts of a worker, as it reports them to its supervisors. */
export interface WorkerReport {
  incarnation: string
  /** The rows that changed since its last report, or that this supervisor does not know yet. */
  sums: Sums
  connections: number
  requests: number
}

/** Bytes from which workers derive the encryption of session tickets; node takes a name and two keys of 16 bytes each. */
export const TICKET_KEY_BYTES = 48

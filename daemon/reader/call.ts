import type { Readable, Writable } from 'node:stream'

/** What one call may take before its process is ended. */
export interface CallLimits {
  /** Of processor time, over all threads. */
  cpuSeconds: number
  /** From the question to the answer; null where a signal or the sender of the bytes decides. */
  seconds: number | null
}

/** One kind of work on a user's files that is done by a process of its own: what it takes, and what it answers. */
export interface Call<Input, Output> {
  name: string
  /** What it does, for the message about one that took too much: `unpacking the archive`. */
  doing: string
  limits: CallLimits
  /** Never there; carries the types. */
  types?: (input: Input) => Output
}

/** The bytes that come to a call and go from it, beside its input and its answer. */
export interface CallStreams {
  readonly input: Readable
  readonly output: Writable
}

/** A call on its way to the process that does it. */
export interface Request {
  call: string
  input: unknown
}

/** What comes back: an output, a fault of the source (its message is for the user), or any other error. */
export type Answer =
  | { kind: 'done'; output: unknown }
  | { kind: 'source fault'; message: string }
  | { kind: 'error'; message: string; code: string | null; stack: string }

/** File descriptors of the process beside the three that each has and node's own channel (3). */
export const LIFELINE_FD = 4

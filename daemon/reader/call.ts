import type { Readable, Writable } from 'node:stream'

/** The limits of one call; when it exceeds them, its process is killed. */
export interface CallLimits {
  /** Processor time, over all threads. */
  cpuSeconds: number
  /** From the request to the answer; null where a signal or the sender of the bytes sets the limit. */
  seconds: number | null
}

/** One kind of work on a user's files that is done by a process of its own, with its input and its output. */
export interface Call<Input, Output> {
  name: string
  /** What it does, for the message when a job exceeds a limit: `unpacking the archive`. */
  doing: string
  limits: CallLimits
  /** Never set; carries the types. */
  types?: (input: Input) => Output
}

/** The bytes that go to a call and come from it, in addition to its input and its answer. */
export interface CallStreams {
  readonly input: Readable
  readonly output: Writable
}

/** A call on its way to the process that does it. */
export interface Request {
  call: string
  input: unknown
}

/** The answer of a job: an output, a fault in the source (with a message for the user), or any other error. */
export type Answer =
  | { kind: 'done'; output: unknown }
  | { kind: 'source fault'; message: string }
  | { kind: 'error'; message: string; code: string | null; stack: string }

/** A file descriptor of the process, in addition to the three standard ones and node's own channel (3). */
export const LIFELINE_FD = 4

import type { CleanupKind } from '#server/disk-use/kinds.ts'

/** Something that the server created and needs no more. */
export interface Surplus {
  kind: CleanupKind
  /** What it belonged to, or its own name. */
  id: string
  name: string
  /** How many bytes become free without it. Throws `runtime_error` if the engine does not say it. */
  bytes(): Promise<number>
  /** Removes it, unless something needs it by now. Returns whether it is gone. Throws if that fails. */
  remove(): Promise<boolean>
}

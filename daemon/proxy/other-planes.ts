import type { AccessLines, BoundListener, Counts, RouteTable } from '#proxy/protocol.ts'

/** The data planes of other nodes, which serve by the table of the server's own one. */
export interface OtherPlanes {
  /**
   * Gives them a table, and the ports of the own data plane. Resolves when each one that answers has it; does not throw, since
   * one that does not answer gets it later.
   */
  apply(table: RouteTable, bound: readonly BoundListener[]): Promise<void>
  /** Brings what a table names to those that answer, before they are given one that names it. Throws only the signal's reason. */
  prepare(table: RouteTable, bound: readonly BoundListener[], signal: AbortSignal): Promise<void>
  /** Waits until an instance has no open request in any that answers. Does not throw. */
  drain(instance: string, deadlineMs: number): Promise<void>
  /** What each has counted when it was last asked, by its node; null for one that has not answered yet. */
  counts(): ReadonlyMap<string, Counts | null>
  /** Those that answer, by their node, to take lines of access logs from. */
  sources(): ReadonlyMap<string, LineSource>
  /** Closes the connections; they keep serving. */
  close(): void
}

/** A data plane that hands out each of its lines once. */
export interface LineSource {
  accessLines(): Promise<AccessLines>
}

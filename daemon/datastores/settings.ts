import type { DatastoreKind } from '#server/datastores/kinds.ts'

/** What a program is told of the memory it may use, derived from the limit of its container. */
type Settings = (memoryMb: number) => Record<string, string>

/** One client costs PostgreSQL 5 to 10 MiB at work (its wiki, "Number Of Database Connections"). */
const MB_A_CONNECTION = 5
const LEAST_CONNECTIONS = 20
const MOST_CONNECTIONS = 400
/** Below this the program itself leaves nothing to share out. */
const LEAST_BUFFERS_MB = 8

const SETTINGS: Record<DatastoreKind, Settings> = {
  // The shares are those of the manual (Resource Consumption) and the project's wiki (Tuning Your PostgreSQL Server).
  relational: (memoryMb) => {
    const connections = clamp(Math.floor(memoryMb / MB_A_CONNECTION), LEAST_CONNECTIONS, MOST_CONNECTIONS)
    return {
      max_connections: String(connections),
      shared_buffers: `${Math.max(LEAST_BUFFERS_MB, Math.floor(memoryMb / 4))}MB`,
      effective_cache_size: `${Math.max(LEAST_BUFFERS_MB, Math.floor((memoryMb * 3) / 4))}MB`,
      maintenance_work_mem: `${clamp(Math.floor(memoryMb / 16), 4, 2_048)}MB`,
      work_mem: `${Math.max(1, Math.floor(memoryMb / 2 / connections))}MB`,
    }
  },
  // The rest is for the copy of changed pages while a snapshot or a new log is written (valkey.io, "Memory optimization").
  keyvalue: (memoryMb) => ({
    maxmemory: `${Math.max(1, Math.floor((memoryMb * 3) / 4))}mb`,
    // A store that people trust with data refuses to grow rather than forget.
    'maxmemory-policy': 'noeviction',
  }),
}

/** The settings of a datastore's program for a memory limit in MiB. */
export function memorySettings(kind: DatastoreKind, memoryMb: number): Record<string, string> {
  return SETTINGS[kind](memoryMb)
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}

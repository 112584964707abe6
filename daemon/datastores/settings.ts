import type { DatastoreKind } from '#server/datastores/kinds.ts'

/** Derives a program's memory settings from the limit of its container. */
type Settings = (memoryMb: number) => Record<string, string>

/** One client costs PostgreSQL 5 to 10 MiB at work (its wiki, "Number Of Database Connections"). */
const MB_PER_CONNECTION = 5
const MIN_CONNECTIONS = 20
const MAX_CONNECTIONS = 400
/** Below this the program itself leaves nothing to distribute. */
const MIN_BUFFERS_MB = 8

const SETTINGS: Record<DatastoreKind, Settings> = {
  // The shares are those of the manual (Resource Consumption) and the project's wiki (Tuning Your PostgreSQL Server).
  relational: (memoryMb) => {
    const connections = clamp(Math.floor(memoryMb / MB_PER_CONNECTION), MIN_CONNECTIONS, MAX_CONNECTIONS)
    return {
      max_connections: String(connections),
      shared_buffers: `${Math.max(MIN_BUFFERS_MB, Math.floor(memoryMb / 4))}MB`,
      effective_cache_size: `${Math.max(MIN_BUFFERS_MB, Math.floor((memoryMb * 3) / 4))}MB`,
      maintenance_work_mem: `${clamp(Math.floor(memoryMb / 16), 4, 2_048)}MB`,
      work_mem: `${Math.max(1, Math.floor(memoryMb / 2 / connections))}MB`,
    }
  },
  // The rest is for copies of changed pages while a snapshot or a new log is written (valkey.io, "Memory optimization").
  keyvalue: (memoryMb) => ({
    maxmemory: `${Math.max(1, Math.floor((memoryMb * 3) / 4))}mb`,
    // A store that people trust with data must refuse writes rather than drop data.
    'maxmemory-policy': 'noeviction',
  }),
}

/** Returns the settings of a datastore's program for a memory limit in MiB. */
export function memorySettings(kind: DatastoreKind, memoryMb: number): Record<string, string> {
  return SETTINGS[kind](memoryMb)
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

import type { Readable } from 'node:stream'
import type { Connection } from './connection.ts'
import { engineFault } from './faults.ts'
import { jsonLines } from './json-lines.ts'
import { labelFilter } from './labels.ts'

/** An event of one of this server's containers. */
export interface EngineEvent {
  type: string
  /** `start`, `die`, `oom`, `destroy` and the like. */
  action: string
  id: string
  /** The container's labels, its `name` and `image`. */
  attributes: Record<string, string>
  /** Only for `die`. */
  exitCode?: number
}

interface RawEvent {
  Type: string
  Action: string
  Actor: { ID: string; Attributes?: Record<string, string> }
}

const DOING = "reading the engine's events"

/**
 * The events of this server's containers from the moment when this returns, until the signal aborts. Ends or throws
 * `runtime_error` when the engine goes away. The engine then forgets its events, so list and compare after each connection.
 */
export async function engineEvents(
  connection: Connection,
  serverId: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<EngineEvent>> {
  const filters = { type: ['container'], label: labelFilter(serverId) }
  const query = { filters: JSON.stringify(filters) }
  const body = await connection.stream(DOING, { method: 'GET', path: '/events?', query, signal })
  // An error before the first read is thrown by that read.
  body.on('error', () => {})
  return eventsOf(connection, body, signal)
}

async function* eventsOf(
  connection: Connection,
  body: Readable,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  try {
    for await (const value of jsonLines(body)) yield read(value as unknown as RawEvent)
  } catch (error) {
    if (!signal.aborted) throw engineFault(DOING, connection.place, error)
  } finally {
    body.destroy()
  }
}

function read({ Type, Action, Actor }: RawEvent): EngineEvent {
  const attributes = Actor.Attributes ?? {}
  // Podman calls it containerExitCode.
  const exitCode = attributes.exitCode ?? attributes.containerExitCode
  return {
    type: Type,
    action: Action,
    id: Actor.ID,
    attributes,
    ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
  }
}

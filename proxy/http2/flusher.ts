/** Who has something to send. */
export interface Flushable {
  /** It is in the queue. */
  isQueued: boolean
  flush(): void
  /** Ends it, for an error of its flush. */
  fault(error: unknown): void
}

let queue: Flushable[] = []

/**
 * Has `connection` flushed when everything was read that has come: the answers of many streams, which upstreams gave
 * in this round, go out in one write.
 */
export function flushSoon(connection: Flushable): void {
  if (connection.isQueued) return
  connection.isQueued = true
  if (queue.push(connection) === 1) setImmediate(flushAll)
}

function flushAll(): void {
  const connections = queue
  queue = []
  for (const connection of connections) {
    connection.isQueued = false
    try {
      connection.flush()
    } catch (error) {
      connection.fault(error)
    }
  }
}

/** A connection with something to send. */
export interface Flushable {
  /** Whether it is in the queue. */
  isQueued: boolean
  /** Whether it is flushed as soon as the current code has run. */
  isUrgent: boolean
  flush(): void
  /** Ends it because its flush has thrown. */
  fault(error: unknown): void
}

let queue: Flushable[] = []

/**
 * Flushes the connection once everything that has arrived was read: answers of many streams that upstreams gave in this
 * round then go out in one write.
 */
export function flushSoon(connection: Flushable): void {
  if (connection.isQueued || connection.isUrgent) return
  connection.isQueued = true
  if (queue.push(connection) === 1) setImmediate(flushAll)
}

/**
 * Flushes the connection as soon as the current code has run: nothing more will come that its answers could wait for, and
 * its client can continue while other connections are read.
 */
export function flushNext(connection: Flushable): void {
  if (connection.isUrgent) return
  connection.isUrgent = true
  process.nextTick(flush, connection)
}

function flushAll(): void {
  const connections = queue
  queue = []
  for (const connection of connections) if (connection.isQueued) flush(connection)
}

function flush(connection: Flushable): void {
  connection.isQueued = false
  connection.isUrgent = false
  try {
    connection.flush()
  } catch (error) {
    connection.fault(error)
  }
}

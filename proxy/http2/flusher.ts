/** Who has something to send. */
export interface Flushable {
  /** It is in the queue. */
  isQueued: boolean
  /** It is flushed when what runs now has ended. */
  isUrgent: boolean
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
  if (connection.isQueued || connection.isUrgent) return
  connection.isQueued = true
  if (queue.push(connection) === 1) setImmediate(flushAll)
}

/**
 * Has `connection` flushed at once, but not amid what is done for it now: nothing more will come that its answers could
 * wait for, and while others are read its client goes on.
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

type Listener = () => void

const listeners = new Set<Listener>()

/** Announces that tokens or sessions have ended. Called after that is committed. */
export function announceCredentialsEnded(): void {
  for (const listener of listeners) listener()
}

/**
 * Calls `listener` each time some have ended, so that it can check whether its own are still valid. The returned function
 * stops that.
 */
export function onCredentialsEnded(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

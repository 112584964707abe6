type Listener = () => void

const listeners = new Set<Listener>()

/** Tells that tokens or sessions have ended, after that is committed. */
export function tellCredentialsEnded(): void {
  for (const listener of listeners) listener()
}

/** Calls `listener`, which asks whether its own still hold, each time some have ended; the returned function ends that. */
export function onCredentialsEnded(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

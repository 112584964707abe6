import { EXIT } from './fault.ts'

let handler: (() => void) | null = null

/** Ends the process with 130 at Ctrl-C and 143 at SIGTERM, unless a command has something to finish first. */
export function exitOnSignals(): void {
  process.on('SIGINT', () => (handler ?? leave)())
  process.on('SIGTERM', () => process.exit(EXIT.terminated))
}

/** Has Ctrl-C handled by a command; the returned function ends that. */
export function onInterrupt(handle: () => void): () => void {
  const former = handler
  handler = handle
  return () => {
    if (handler === handle) handler = former
  }
}

function leave(): void {
  process.exit(EXIT.interrupted)
}

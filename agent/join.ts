import type { Duplex } from 'node:stream'

/**
 * Connects two streams in both directions, with back-pressure. An end passes on as an end, so each direction can end alone;
 * whatever breaks one breaks the other.
 */
export function join(left: Duplex, right: Duplex): void {
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    // After an orderly end the other may still be sending what it has.
    from.on('close', () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy()
    })
  }
}

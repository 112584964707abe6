import { z } from 'zod'
import { ToolFault } from './call.ts'
import type { Made } from './tool.ts'

/** Where a list goes on: what an earlier answer called `next_cursor`. */
export const CURSOR = { cursor: z.string().optional() }

interface Page<T> {
  /** The name of the list in the answer. */
  list: string
  items: readonly T[]
  /** What is the same about an item in the next answer. */
  keyOf: (item: T) => string
  cursor: string | undefined
  limit?: number
}

/**
 * One page of a list whose newest or first items come first. The cursor is the last item that was shown, so that nothing is
 * shown twice when items are added in front.
 */
export function paged<T>({ list, items, keyOf, cursor, limit = Infinity }: Page<T>): Made {
  const start = cursor === undefined ? 0 : items.findIndex((item) => keyOf(item) === cursor) + 1
  if (cursor !== undefined && start === 0)
    throw new ToolFault('invalid_request', 'cursor: is not of this list any more; start without it')
  const shown = items.slice(start, start + limit)
  const goesOn = start + shown.length < items.length
  const last = shown.at(-1)
  return {
    value: {
      [list]: shown,
      ...(goesOn && last !== undefined ? { truncated: true, next_cursor: keyOf(last) } : {}),
    },
    cut: {
      list,
      keep: 'first',
      // What is left of an item after it was shaped still has what its key is made of.
      next: (kept) => (kept.length === 0 ? cursor : keyOf(kept.at(-1) as T)),
    },
  }
}

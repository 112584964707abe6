import type { BrokenChunks, Refused, Served } from './cases.ts'
import { BROKEN_CHUNKS, GOOD_CHUNKS } from './chunks.ts'
import { FRAMED, FRAMING } from './framing.ts'
import { HEADS } from './heads.ts'
import { HOSTED, HOSTS } from './hosts.ts'
import { COUNTED, LENGTHS } from './lengths.ts'
import { LIMITS, WITHIN } from './limits.ts'
import { READABLE } from './readable.ts'

export const REFUSED: readonly Refused[] = [...FRAMING, ...LENGTHS, ...HEADS, ...HOSTS, ...LIMITS]
export const SERVED: readonly Served[] = [
  ...FRAMED,
  ...COUNTED,
  ...READABLE,
  ...HOSTED,
  ...WITHIN,
  ...GOOD_CHUNKS,
]
export const BROKEN: readonly BrokenChunks[] = BROKEN_CHUNKS

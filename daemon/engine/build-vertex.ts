import { readFields } from './protobuf.ts'

/** A step of a build as BuildKit reports it (control.Vertex); times are the engine's. */
export interface Vertex {
  digest: string
  name: string
  isCached: boolean
  startedMs: number | null
  completedMs: number | null
  error: string
}

/** Reads a step. Throws RangeError when the message is not protobuf. */
export function readVertex(message: Buffer): Vertex {
  const vertex: Vertex = {
    digest: '',
    name: '',
    isCached: false,
    startedMs: null,
    completedMs: null,
    error: '',
  }
  for (const { number, value } of readFields(message)) {
    if (number === 4) vertex.isCached = value === 1
    if (typeof value === 'number') continue
    if (number === 1) vertex.digest = value.toString('latin1')
    else if (number === 3) vertex.name = value.toString('utf8')
    else if (number === 5) vertex.startedMs = readTime(value)
    else if (number === 6) vertex.completedMs = readTime(value)
    else if (number === 7) vertex.error = value.toString('utf8')
  }
  return vertex
}

function readTime(message: Buffer): number {
  let milliseconds = 0
  for (const { number, value } of readFields(message)) {
    if (typeof value === 'number') milliseconds += number === 1 ? value * 1_000 : value / 1e6
  }
  return milliseconds
}

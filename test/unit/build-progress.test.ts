import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BuildProgress } from '#daemon/engine/build-progress.ts'
import { bytesField, numberField } from '#daemon/engine/protobuf.ts'

const LOOK_UP = '[internal] load metadata for docker.io/library/node:24'

let lines: string[]
let progress: BuildProgress

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  progress = new BuildProgress((line) => void lines.push(line))
})
afterEach(() => void vi.useRealTimers())

/** Reports a step that began at second 1 and, with `end`, ended then. */
function tell(name: string, { end, error }: { end?: number; error?: string } = {}): void {
  const at = (seconds: number): Buffer => numberField(1, seconds)
  const vertex = [
    bytesField(1, `digest of ${name}`),
    bytesField(3, name),
    bytesField(5, at(1)),
    ...(end === undefined ? [] : [bytesField(6, at(end))]),
    ...(error === undefined ? [] : [bytesField(7, error)]),
  ]
  progress.read(bytesField(1, Buffer.concat(vertex)))
}

test('a slow operation of the engine is named, with its end', () => {
  tell(LOOK_UP)
  vi.advanceTimersByTime(2_000)
  expect(lines).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(lines).toEqual([`#1 ${LOOK_UP}`])
  tell(LOOK_UP, { end: 6 })
  expect(lines).toEqual([`#1 ${LOOK_UP}`, '#1 DONE 5.0s'])
})

test('one that is over in time is not', () => {
  tell(LOOK_UP)
  tell(LOOK_UP, { end: 2 })
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

test('one that fails is named once', () => {
  tell(LOOK_UP)
  tell(LOOK_UP, { end: 2, error: 'no such image' })
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([`#1 ${LOOK_UP}`, '#1 ERROR'])
})

test('nothing is said after the end of the build', () => {
  tell(LOOK_UP)
  progress.end()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
})

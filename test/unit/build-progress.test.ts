import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BuildProgress } from '#daemon/engine/build-progress.ts'
import { ClassicProgress } from '#daemon/engine/classic-progress.ts'
import { bytesField, numberField } from '#daemon/engine/protobuf.ts'
import type { BuildStep } from '#server/logs/steps.ts'

const LOOK_UP = '[internal] load metadata for docker.io/library/node:24'

let lines: string[]
/** What became of each step, and the lines that belong to it. */
let steps: Map<number, { name: string; end: BuildStep['end']; lines: string[] }>
let progress: BuildProgress

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  steps = new Map()
  progress = new BuildProgress({
    onLine: (line, _, step) => {
      lines.push(line)
      steps.get(step!)!.lines.push(line)
    },
    onStep: ({ number, name, end }) =>
      void steps.set(number, { name, end, lines: steps.get(number)?.lines ?? [] }),
  })
})
afterEach(() => void vi.useRealTimers())

interface Told {
  end?: number
  error?: string
  isCached?: boolean
}

/** Reports a step that began at second 1 and, with `end`, ended then. */
function tell(name: string, { end, error, isCached = false }: Told = {}): void {
  const at = (seconds: number): Buffer => numberField(1, seconds)
  const vertex = [
    bytesField(1, `digest of ${name}`),
    bytesField(3, name),
    numberField(4, isCached ? 1 : 0),
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

/** Reports what a step prints. */
function print(name: string, text: string): void {
  progress.read(bytesField(3, Buffer.concat([bytesField(1, `digest of ${name}`), bytesField(4, text)])))
}

test('lines of steps that run at the same time belong to their own step', () => {
  const [left, right] = ['[a 2/2] RUN left', '[b 2/2] RUN right']
  tell(left)
  tell(right)
  for (const count of [1, 2]) {
    print(left, `left ${count}\nleft, beg`)
    print(right, `right ${count}\n`)
    print(left, 'un\n')
  }
  tell(left, { end: 3 })
  tell(right, { end: 2, error: 'exit code: 1' })
  const own = (number: number) => steps.get(number)!.lines.filter((line) => !line.startsWith('#'))
  expect(own(1)).toEqual(['left 1', 'left, begun', 'left 2', 'left, begun'])
  expect(own(2)).toEqual(['right 1', 'right 2'])
  expect(steps.get(1)).toMatchObject({
    name: left,
    end: { status: 'succeeded', isCached: false, milliseconds: 2_000 },
  })
  expect(steps.get(2)).toMatchObject({ name: right, end: { status: 'failed', milliseconds: 1_000 } })
})

test('a step from the cache is cached, and one next to a failed one is canceled', () => {
  tell('[1/3] FROM busybox', { end: 1, isCached: true })
  tell('[2/3] RUN sleep')
  tell('[2/3] RUN sleep', { error: 'context canceled' })
  expect([...steps.values()].map(({ end }) => end)).toMatchObject([
    { status: 'succeeded', isCached: true, milliseconds: 0 },
    { status: 'canceled', isCached: false },
  ])
  expect(steps.get(2)!.lines).toEqual(['#2 [2/3] RUN sleep'])
})

test.for([
  ['Step 1/2 : FROM busybox', ' ---> 12ab', 'Step 2/2 : RUN true', ' ---> Using cache'],
  ['STEP 1/2: FROM busybox', 'STEP 2/2: RUN true', '--> Using cache 12ab', '--> 12ab'],
])('a builder that prints only lines has steps: %s', (said) => {
  const ended: [string, boolean][] = []
  const places: (number | undefined)[] = []
  const classic = new ClassicProgress(
    (_line, _stream, step) => void places.push(step),
    ({ name, end }) => end && void ended.push([name, end.isCached]),
  )
  for (const line of ['some note', ...said]) classic.read(line)
  classic.end()
  expect(ended).toEqual([
    ['[1/2] FROM busybox', false],
    ['[2/2] RUN true', true],
  ])
  expect(places[0]).toBeUndefined()
  expect(places.at(-1)).toBe(2)
})

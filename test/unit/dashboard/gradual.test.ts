import { effectScope, nextTick, shallowRef } from 'vue'
import { beforeEach, expect, test } from 'vitest'
import { useGradual, type Frames } from '../../../dashboard/src/ui/gradual.ts'

const STEP = 2

interface Entry {
  id: string
  version: number
}

const entry = (id: string, version: number): Entry => ({ id, version })
const listOf = (ids: string, version: number): Entry[] => [...ids].map((id) => entry(id, version))

/** What waits for the next frame. */
const waiting = new Map<number, () => void>()
let asked = 0

const frames: Frames = {
  requestAnimationFrame: (callback) => (waiting.set(++asked, callback), asked),
  cancelAnimationFrame: (id) => waiting.delete(id),
}

beforeEach(() => waiting.clear())

function drawFrame(): void {
  const callbacks = [...waiting.values()]
  waiting.clear()
  for (const callback of callbacks) callback()
}

function followed(first: Entry[]) {
  const entries = shallowRef(first)
  const scope = effectScope()
  const shown = scope.run(() => useGradual(() => entries.value, STEP, frames))!
  const words = () => shown.value.map(({ id, version }) => `${id}${version}`).join(' ')
  const become = async (now: Entry[]): Promise<void> => {
    entries.value = now
    await nextTick()
  }
  return { words, become, scope }
}

test('newer entries become visible a few a frame, the first first', async () => {
  const { words, become } = followed(listOf('abcde', 1))
  await become(listOf('abcde', 2))
  expect(words()).toBe('a2 b2 c1 d1 e1')
  drawFrame()
  expect(words()).toBe('a2 b2 c2 d2 e1')
  drawFrame()
  expect(words()).toBe('a2 b2 c2 d2 e2')
  drawFrame()
  expect(waiting.size).toBe(0)
})

test('entries that are as before take no frame', async () => {
  const before = listOf('abcde', 1)
  const { words, become } = followed(before)
  await become([...before.slice(0, 4), entry('e', 2)])
  expect(words()).toBe('a1 b1 c1 d1 e2')
})

test('entries that come, go or move do so at once, also while others are replaced', async () => {
  const { words, become } = followed(listOf('abcde', 1))
  await become(listOf('abcde', 2))
  await become(listOf('eabcdf', 3))
  expect(words()).toBe('e3 a3 b3 c3 d3 f3')
  drawFrame()
  expect(words()).toBe('e3 a3 b3 c3 d3 f3')
})

test('what comes while others are replaced is shown from its first entry on', async () => {
  const { words, become } = followed(listOf('abcde', 1))
  await become(listOf('abcde', 2))
  await become(listOf('abcde', 3))
  expect(words()).toBe('a3 b3 c1 d1 e1')
  drawFrame()
  drawFrame()
  expect(words()).toBe('a3 b3 c3 d3 e3')
})

test('a list that is gone asks for no more frames', async () => {
  const { become, scope } = followed(listOf('abcde', 1))
  await become(listOf('abcde', 2))
  scope.stop()
  expect(waiting.size).toBe(0)
})

import { expect, test } from 'vitest'
import { runEach } from '#daemon/work/each.ts'

test('a failing step does not prevent later ones, and is reported', async () => {
  const done: number[] = []
  const step = (number: number) => async () => void done.push(number)
  const failing = (message: string) => async () => {
    throw new Error(message)
  }
  await expect(runEach([step(1), failing('full'), step(2)])).rejects.toThrow(/^full$/)
  await expect(runEach([failing('full'), failing('gone'), step(3)])).rejects.toThrow(/^full; gone$/)
  expect(done).toEqual([1, 2, 3])
})

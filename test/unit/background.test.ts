import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Background } from '../../daemon/work/background.ts'

const throwing = () => {
  throw new Error('the disk is full')
}

test('work whose failure cannot be recorded is not begun again at once, and can be canceled at once', async () => {
  const background = new Background()
  for (let time = 0; time < 2; time++) {
    const told = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const onFailure = () => {
      told.resolve()
      throwing()
    }
    const run = () => Promise.reject(new Error('the container cannot start'))
    background.start({ key: 'one', pauseMs: 0, run, onFailure, onEnd: ended.resolve })
    await told.promise
    await setImmediate()
    expect(background.has('one')).toBe(true)
    await background.cancel('one')
    expect(background.has('one')).toBe(false)
    await ended.promise
  }
})

test('work whose end cannot be reported ends all the same', async () => {
  const background = new Background()
  background.start({ key: 'one', pauseMs: 0, run: async () => {}, onFailure: throwing, onEnd: throwing })
  await expect.poll(() => background.has('one')).toBe(false)
})

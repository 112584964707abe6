import { expect, test } from 'vitest'
import { Background } from '../../daemon/rollouts/background.ts'

const throwing = () => {
  throw new Error('the disk is full')
}

test('work whose failure cannot be recorded ends alone, and can begin again', async () => {
  const background = new Background()
  for (let time = 0; time < 2; time++) {
    await new Promise<void>((resolve) => {
      const work = { key: 'one', pauseMs: 0, onFailure: throwing, onEnd: resolve }
      background.start({ ...work, run: () => Promise.reject(new Error('the container cannot start')) })
    })
    expect(background.has('one')).toBe(false)
  }
})

test('work whose end cannot be told ends all the same', async () => {
  const background = new Background()
  background.start({ key: 'one', pauseMs: 0, run: async () => {}, onFailure: throwing, onEnd: throwing })
  await expect.poll(() => background.has('one')).toBe(false)
})

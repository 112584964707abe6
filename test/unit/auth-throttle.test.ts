import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { MAX_FAILURES, Throttle, WINDOW_MS } from '#server/accounts/throttle.ts'

const wrong = () => Promise.resolve(undefined)
const right = () => Promise.resolve('in')
const refused = { code: 'too_many_attempts' }

async function fail(throttle: Throttle, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await throttle.run(wrong)
}

describe('the sign-in throttle', () => {
  it('checks ten failures and refuses the eleventh, even with the right password', async () => {
    const throttle = new Throttle('sign-ins')
    await fail(throttle, MAX_FAILURES)
    await expect(throttle.run(wrong)).rejects.toMatchObject(refused)
    await expect(throttle.run(right)).rejects.toMatchObject(refused)
  })

  it('checks at most ten of thirty simultaneous guesses', async () => {
    const throttle = new Throttle('sign-ins')
    let judged = 0
    const guesses = Array.from({ length: 30 }, () =>
      throttle.run(async () => {
        judged++
        await sleep(1)
        return undefined
      }),
    )
    const outcomes = await Promise.allSettled(guesses)
    expect(judged).toBe(MAX_FAILURES)
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(20)
  })

  it('never counts successful sign-ins, however many come at once', async () => {
    const throttle = new Throttle('sign-ins')
    await fail(throttle, MAX_FAILURES - 1)
    const results = await Promise.all(Array.from({ length: 50 }, () => throttle.run(right)))
    expect(results.every((result) => result === 'in')).toBe(true)
  })

  it('opens again when the oldest failure is five minutes old, for as many as are that old', async () => {
    let now = 0
    const throttle = new Throttle('sign-ins', () => now)
    await fail(throttle, 1)
    now = 60_000
    await fail(throttle, MAX_FAILURES - 1)
    now = WINDOW_MS - 1
    await expect(throttle.run(wrong)).rejects.toMatchObject(refused)
    now = WINDOW_MS
    await throttle.run(wrong)
    await expect(throttle.run(wrong)).rejects.toMatchObject(refused)
  })

  it('says how long to wait', async () => {
    let now = 7_000
    const throttle = new Throttle('sign-ins', () => now)
    await fail(throttle, MAX_FAILURES)
    now += WINDOW_MS - 42_000
    await expect(throttle.run(right)).rejects.toThrow('42 seconds')
  })

  it('refuses more than 256 that wait for their turn, until one was checked', async () => {
    const throttle = new Throttle('sign-ins')
    let letOn = () => {}
    const held = new Promise<string>((resolve) => (letOn = () => resolve('in')))
    const waiting = Array.from({ length: 256 }, () => throttle.run(() => held))
    await expect(throttle.run(right)).rejects.toMatchObject(refused)
    letOn()
    await Promise.all(waiting)
    expect(await throttle.run(right)).toBe('in')
  })

  it('does not count a check that failed with an error, and continues', async () => {
    const throttle = new Throttle('sign-ins')
    for (let i = 0; i < 2 * MAX_FAILURES; i++) {
      await expect(throttle.run(() => Promise.reject(new Error('disk')))).rejects.toThrow('disk')
    }
    expect(await throttle.run(right)).toBe('in')
  })
})

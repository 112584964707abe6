import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery } from '#server/hooks/delivery.ts'
import { listDeliveries, logDelivery } from '#server/hooks/log.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>

beforeAll(async () => void ({ close } = await openContext()))
afterAll(() => close())

test.each<Delivery['verdict']>(['ignored', 'refused'])(
  'no text of a delivery that is %s is stored in full',
  (verdict) => {
    const text = `\u202e${'😀x'.repeat(100_000)}`
    const facts = { event: text, delivery: text, repository: text, ref: text, commit: text, reason: text }
    logDelivery({ ...facts, verdict, deploys: [] })
    const kept = listDeliveries(1)[0]!
    for (const field of Object.keys(facts) as (keyof typeof facts)[]) {
      expect(kept[field]).toMatch(/^(😀x)+/u)
      expect(kept[field]).not.toMatch(/\p{C}/u)
      expect(kept[field]!.length).toBeLessThanOrEqual(500)
    }
  },
)

describe('deliveries from strangers', () => {
  const facts = { event: null, repository: null, ref: null, commit: null, reason: null, deploys: [] }
  const log = (count: number, verdict: Delivery['verdict']) => {
    for (let index = 0; index < count; index++)
      logDelivery({ ...facts, verdict, delivery: `${verdict}-${index}` })
  }
  const verdicts = (limit: number) => listDeliveries(limit).map(({ verdict }) => verdict)

  test('take at most a fifth of a page, as long as there are others', () => {
    log(45, 'deployed')
    log(60, 'refused')
    const page = verdicts(50)
    expect(page).toHaveLength(50)
    expect(page.filter((verdict) => verdict === 'refused')).toHaveLength(10)
  })

  test('are listed alone on request', () => {
    const refused = listDeliveries(50, 'refused')
    expect(refused).toHaveLength(50)
    expect(refused[0]).toMatchObject({ verdict: 'refused', delivery: 'refused-59' })
    expect(listDeliveries(3, 'deployed').map(({ delivery }) => delivery)).toEqual([
      'deployed-44',
      'deployed-43',
      'deployed-42',
    ])
  })
})

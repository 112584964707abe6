import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Delivery } from '#server/hooks/delivery.ts'
import { listDeliveries, logDelivery } from '#server/hooks/log.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>

beforeAll(async () => void ({ close } = await openContext()))
afterAll(() => close())

test.each<Delivery['verdict']>(['ignored', 'refused'])(
  'no text of a delivery that is %s is kept whole',
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

import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordChanges, recorded } from '#server/audit/recording.ts'
import type { AuditEvent, Resource } from '#server/audit/schema.ts'
import type { Context } from '#server/context.ts'
import { auditSource } from '../../daemon/log-drains/audit-source.ts'
import { openContext } from '../support/context.ts'

let context: Context
let close: () => Promise<void>
beforeEach(async () => {
  ;({ context, close } = await openContext())
  recordChanges(context.database)
})
afterEach(() => close())

const actor = { kind: 'server_token', id: null, name: null } as const
const resource: Resource = { kind: 'service', id: 'srv-1', name: 'web', environment: 'production' }

test('an event is sent once its action has ended, with what was known only then', async () => {
  const { database } = context
  const change = () => database.run("UPDATE environments SET name = name || 'x'")
  const going = Promise.withResolvers<void>()
  const attempt = { actor, action: 'service.created' }
  const look = () => ({ resource: null, changes: ['name: web'] })
  const long = recorded(
    database,
    attempt,
    look,
    async () => {
      database.transaction(change)
      await going.promise
    },
    (_result, { changes }) => ({ resource, changes }),
  )
  const short = { actor, action: 'service.updated' }
  await recorded(
    database,
    short,
    look,
    () => database.transaction(change),
    (_, effect) => effect,
  )
  const source = auditSource()
  // The later one waits for it, since events are sent in their order.
  expect(await source.next(1, 100)).toBeNull()
  going.resolve()
  await long
  const batch = await source.next(1, 100)
  expect(batch).toMatchObject({ origin: { service: 'deployer' }, first: 1, next: 3 })
  const events = batch!.lines.map(({ line }) => JSON.parse(line) as AuditEvent)
  expect(events).toMatchObject([
    { action: 'service.created', resource },
    { action: 'service.updated', resource: null },
  ])
  expect(await source.next(2, 1)).toMatchObject({ first: 2, next: 3 })
})

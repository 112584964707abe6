import { afterEach, beforeEach, expect, test } from 'vitest'
import { record, recordChanges, recorded, recordOwn, type Attempt } from '#server/audit/recording.ts'
import type { Database } from '#server/database/index.ts'
import { openContext } from '../support/context.ts'

const attempt: Attempt = { actor: { kind: 'session', id: null, name: null }, action: 'thing.updated' }
const thing = { kind: 'thing', id: 'one', name: null, environment: null }

let database: Database
let close: () => Promise<void>
beforeEach(async () => {
  const opened = await openContext()
  database = opened.context.database
  close = opened.close
  recordChanges(database)
})
afterEach(() => close())

const events = () =>
  database.all<{ action: string; actor_kind: string }>('SELECT action, actor_kind FROM audit_events')
const change = (key: string) => database.run("INSERT INTO settings (key, value) VALUES (?, 'x')", key)
/** SQLite checks a deferred foreign key at the commit. */
const failAtCommit = () =>
  database.transaction(() => {
    database.run('PRAGMA defer_foreign_keys = ON')
    change('test-lost')
    database.run("INSERT INTO api_token_services VALUES ('tok-none', 'srv-none')")
  })
const act = (work: () => void) =>
  recorded(
    database,
    attempt,
    () => ({ resource: thing, changes: [] }),
    work,
    (_, effect) => effect,
  )

test('a change whose commit failed has an event once it is made again', async () => {
  await act(() => {
    expect(failAtCommit).toThrow('FOREIGN KEY')
    expect(events()).toEqual([])
    change('test-kept')
  })
  expect(events()).toEqual([{ action: 'thing.updated', actor_kind: 'session' }])
})

test('what the server does is its own, unless it is part of what somebody does', async () => {
  const own = () => recordOwn(database, 'thing.created', thing)
  own()
  await act(() => {
    change('test-1')
    own()
  })
  record(database, attempt, 'refused', { resource: null, changes: [] })
  expect(events().map(({ action, actor_kind: kind }) => `${kind} ${action}`)).toEqual([
    'system thing.created',
    'session thing.updated',
    'session thing.updated',
  ])
})

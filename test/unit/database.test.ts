import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '#server/database/index.ts'
import { openContext } from '../support/context.ts'

let database: Database
let close: () => Promise<void>
beforeEach(async () => {
  const opened = await openContext()
  database = opened.context.database
  close = opened.close
})
afterEach(() => close())

const insert = (key: string, bytes = 1) =>
  database.run('INSERT INTO settings (key, value) VALUES (?, ?)', key, 'x'.repeat(bytes))
const held = () =>
  database.get<{ count: number }>("SELECT count(*) AS count FROM settings WHERE key LIKE 'test-%'")!.count
const limitPages = (pages: number) => database.get(`PRAGMA max_page_count = ${pages}`)

test('a change without disk space says so, leaves nothing, and works once there is space', () => {
  const { page_count } = database.get<{ page_count: number }>('PRAGMA page_count')!
  limitPages(page_count + 1)
  const full = expect.objectContaining({
    code: 'database_error',
    message: expect.stringMatching(/disk .*full: free/),
  })
  const change = () =>
    database.transaction(() => {
      insert('test-1')
      insert('test-2', 1024 ** 2)
    })
  expect(change).toThrow(full)
  expect(() => insert('test-3', 1024 ** 2)).toThrow(full)
  expect(held()).toBe(0)
  limitPages(page_count + 1_000)
  change()
  expect(held()).toBe(2)
})

test('a change that fails inside leaves nothing, and reports its own error', () => {
  const change = () =>
    database.transaction(() => {
      insert('test-1')
      throw new RangeError('of the change')
    })
  expect(change).toThrow(new RangeError('of the change'))
  expect(held()).toBe(0)
})

test('a change that another process prevented from beginning does not affect the next one', () => {
  const { file } = database.get<{ file: string }>('PRAGMA database_list')!
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  database.get('PRAGMA busy_timeout = 0')
  expect(() => database.transaction(() => insert('test-1'))).toThrow('locked')
  other.close()
  const failing = () =>
    database.transaction(() => {
      insert('test-2')
      throw new RangeError('of the change')
    })
  expect(failing).toThrow(RangeError)
  expect(held()).toBe(0)
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDatastore } from '#server/datastores/operations.ts'
import { DatastoreInput } from '#server/datastores/schema.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>

beforeEach(async () => {
  ;({ close } = await openContext())
})
afterEach(() => close())

describe('the database and user of a relational datastore that was given none', () => {
  test.each([
    ['my-app', 'my_app'],
    ['postgres', 'postgres'],
    ['pg', 'pg'],
    ['pg-main', 'pgmain'],
    ['pg---main', 'pgmain'],
    ['template0', 'template0_db'],
    ['template1', 'template1_db'],
    ['public', 'public_db'],
    ['none', 'none_db'],
  ])('of the name %s are %s, which could be given too', (name, expected) => {
    const { database, username } = createDatastore({ kind: 'relational', name })
    expect({ database, username }).toEqual({ database: expected, username: expected })
    const given = { kind: 'relational', name, database: expected, username: expected }
    expect(DatastoreInput.safeParse(given).success).toBe(true)
  })
})

test.each([
  { database: 'template0' },
  { database: 'template1' },
  { username: 'public' },
  { username: 'none' },
  { username: 'pg_main' },
])('a relational datastore with %j could never be made, and is refused', (chosen) => {
  expect(DatastoreInput.safeParse({ kind: 'relational', name: 'db', ...chosen }).success).toBe(false)
})

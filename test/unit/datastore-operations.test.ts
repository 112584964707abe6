import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginBackup, recordBackupFile } from '#server/backups/operations.ts'
import { getBackup, isBeingRestored } from '#server/backups/store.ts'
import type { Context } from '#server/context.ts'
import { createDatastore, deleteDatastore } from '#server/datastores/operations.ts'
import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import { giveUpRestoreOrUpgrade, restoreBackup } from '#server/datastores/restores-and-upgrades.ts'
import { DatastoreInput } from '#server/datastores/schema.ts'
import { getDatastore, getDatastoreByName } from '#server/datastores/store.ts'
import { openContext } from '../support/context.ts'

let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  ;({ context, close } = await openContext())
})
afterEach(() => close())

describe('the default database and user of a relational datastore', () => {
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
  ])('for the name %s are %s, which could be given too', (name, expected) => {
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
])('a relational datastore with %j could never be created, and is refused', (chosen) => {
  expect(DatastoreInput.safeParse({ kind: 'relational', name: 'db', ...chosen }).success).toBe(false)
})

describe('a restore into a new datastore', () => {
  test.each(['upgrading', 'deleting'] as const)('is refused while its source is %s', (status) => {
    const { source, backup } = backedUp()
    context.database.run('UPDATE datastores SET status = ? WHERE id = ?', status, source.id)
    // A status that was read before it changed decides nothing.
    expect(() => restoreBackup(source, backup, 'copy')).toThrow(
      expect.objectContaining({ code: 'conflict', message: `datastore db is ${status}` }),
    )
    expect(getDatastoreByName(source.environment_id, 'copy')).toBeUndefined()
  })

  test.each(['available', 'unavailable', 'restoring', 'failed'] as const)(
    'begins while its source is %s',
    (status) => {
      const { source, backup } = backedUp()
      context.database.run('UPDATE datastores SET status = ? WHERE id = ?', status, source.id)
      expect(restoreBackup(source, backup, 'copy')).toMatchObject({ name: 'copy', status: 'restoring' })
    },
  )
})

describe('while a new datastore is filled from a backup of another', () => {
  test('the other cannot be deleted, which would delete the backup too, unless forced', () => {
    const { source, backup } = backedUp()
    restoreBackup(source, backup, 'copy')
    expect(() => deleteDatastore(source, false)).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringContaining('copy') as string }),
    )
    deleteDatastore(source, true)
    expect(getDatastore(source.id)).toMatchObject({ status: 'deleting' })
  })

  test('but no longer: a failed one needs neither', () => {
    const { source, backup } = backedUp()
    const { id } = restoreBackup(source, backup, 'copy')
    expect(isBeingRestored(backup.id)).toBe(true)
    giveUpRestoreOrUpgrade(getRestoreOrUpgrade(id)!, 'it was not restored')
    expect(isBeingRestored(backup.id)).toBe(false)
    deleteDatastore(source, false)
    expect(getDatastore(source.id)).toMatchObject({ status: 'deleting' })
  })
})

/** A datastore with a backup of it. */
function backedUp() {
  const source = createDatastore({ kind: 'relational', name: 'db' })
  const { id } = beginBackup(source, 'manual')
  recordBackupFile(getBackup(id)!, { size_bytes: 1, sha256: 'a'.repeat(64) })
  return { source, backup: getBackup(id)! }
}

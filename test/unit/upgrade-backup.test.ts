import { afterEach, beforeEach, expect, test } from 'vitest'
import { backUpForUpgrade } from '#daemon/datastores/upgrade-backup.ts'
import { beginBackup, failBackup, recordBackupFile } from '#server/backups/operations.ts'
import { getBackup, listBackups, type BackupRow } from '#server/backups/store.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import {
  getRestoreOrUpgrade,
  insertRestoreOrUpgrade,
} from '#server/datastores/restores-and-upgrades-store.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
let row: DatastoreRow

const FILE = { size_bytes: 1, sha256: 'a'.repeat(64) }

beforeEach(async () => {
  ;({ close } = await openContext())
  row = createDatastore({ kind: 'relational', name: 'db' })
  insertRestoreOrUpgrade({
    datastore_id: row.id,
    kind: 'upgrade',
    backup_id: null,
    version: '17',
    volume: `${row.id}-2`,
  })
})
afterEach(() => close())

/** Makes another backup, which ends as `end` says. */
function again(former: BackupRow, end: (backup: BackupRow) => void): Promise<BackupRow> {
  const made = backUpForUpgrade(row, former, new AbortController().signal)
  end(getBackup(getRestoreOrUpgrade(row.id)!.backup_id!)!)
  return made
}

const ids = () => listBackups(row.id).map(({ id }) => id)

test('an upgrade that begins again keeps its good backup until it has another', async () => {
  const { id } = beginBackup(row, 'upgrade')
  recordBackupFile(getBackup(id)!, FILE)
  const former = getBackup(id)!
  await expect(again(former, (backup) => failBackup(backup, 'the disk is full'))).rejects.toThrow(
    'disk is full',
  )
  expect(ids()).toContain(id)
  const { id: made } = await again(former, (backup) => recordBackupFile(backup, FILE))
  expect(ids()).toContain(made)
  expect(ids()).not.toContain(id)
})

test('a backup is not begun if its purpose cannot be recorded', () => {
  const refused = new Error('the disk is full')
  expect(() =>
    beginBackup(row, 'upgrade', () => {
      throw refused
    }),
  ).toThrow(refused)
  expect(ids()).toEqual([])
})

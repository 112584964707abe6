import type { BackupRow } from '#server/backups/store.ts'
import { KINDS, type DatastoreKind } from '#server/datastores/kinds.ts'
import { provideFile } from '../backups/provide.ts'
import { DUMP_PROGRAMS } from './dump-programs.ts'

/** Makes sure that the file of a datastore's backup is here and intact, as `provideFile` does. */
export function provideBackup(kind: DatastoreKind, backup: BackupRow, signal: AbortSignal): Promise<void> {
  const form = { magic: DUMP_PROGRAMS[kind].magic, label: `a dump of a ${KINDS[kind].label}` }
  return provideFile(form, backup, signal)
}

import type { Command, Flag, Word } from '../command.ts'
import { MOVE_FLAGS } from './move-flags.ts'
import { FIELDS_HELP } from './services.ts'

const DATASTORE: Word = { name: 'name', completes: 'datastore' }
const DETACH: Flag = { name: 'detach', summary: 'do not wait for the end' }

/** Databases and key-value stores. */
export const DATASTORES: readonly Command[] = [
  {
    name: 'db list',
    group: 'Datastores',
    summary: 'list the datastores of an environment',
    more: '-e all lists those of every environment. Passwords are in --json alone.',
    examples: ['db list', 'db list -e all --json'],
    load: async () => (await import('../client/commands/datastores.ts')).list,
  },
  {
    name: 'db show',
    group: 'Datastores',
    summary: 'show a datastore, without its password',
    words: [DATASTORE],
    examples: ['db show db', 'db show db.staging --json'],
    load: async () => (await import('../client/commands/datastores.ts')).show,
  },
  {
    name: 'db create',
    group: 'Datastores',
    summary: 'create a datastore, and wait until it answers',
    words: [{ name: 'name' }, { name: 'K=V', isOptional: true, repeats: true }],
    flags: [
      {
        name: 'kind',
        value: 'kind',
        summary: 'postgresql or keyvalue',
        completes: ['postgresql', 'keyvalue'],
      },
      DETACH,
    ],
    more: FIELDS_HELP,
    examples: [
      'db create db --kind postgresql',
      "db create cache --kind keyvalue backup_schedule='0 3 * * *'",
    ],
    exits: { 1: 'it could not be created' },
    load: async () => (await import('../client/commands/datastores.ts')).create,
  },
  {
    name: 'db delete',
    group: 'Datastores',
    summary: 'delete a datastore with its data and its backups',
    words: [DATASTORE],
    flags: [{ name: 'force', summary: 'delete it even if variables refer to it' }],
    more: 'Its name must be typed to confirm; --yes takes the place of that.',
    examples: ['db delete db', 'db delete db --force --yes'],
    exits: { 5: 'variables refer to it, or it is busy' },
    load: async () => (await import('../client/commands/datastores.ts')).remove,
  },
  {
    name: 'db upgrade',
    group: 'Datastores',
    summary: 'upgrade a datastore to a newer major version, and wait for the end',
    words: [DATASTORE, { name: 'version' }],
    flags: [DETACH],
    more: 'It is read-only meanwhile. The old data is kept for a day; when the upgrade fails, it is used on.',
    examples: ['db upgrade db 18'],
    exits: { 1: 'the upgrade failed; the datastore is as before' },
    load: async () => (await import('../client/commands/datastores.ts')).upgrade,
  },
  {
    name: 'db move',
    group: 'Datastores',
    summary: 'move a datastore to another node, and wait until it is there',
    words: [DATASTORE, { name: 'node', isOptional: true }],
    flags: MOVE_FLAGS,
    more: `It does not answer while its data is copied. The former data is kept for a day. --from-backup is for a datastore whose
node is lost: it restores its newest backup, once that is confirmed.`,
    examples: ['db move db worker-2', 'db move db worker-2 --from-backup', 'db move db --cancel'],
    exits: { 1: 'it was not moved; the datastore is where it was', 5: 'it is there already, or busy' },
    load: async () => (await import('../client/commands/move.ts')).moveDatastore,
  },
  {
    name: 'db backup',
    group: 'Datastores',
    summary: 'back a datastore up, and wait for the end',
    words: [DATASTORE],
    flags: [DETACH],
    examples: ['db backup db', 'db backup db --json'],
    exits: { 1: 'the backup failed' },
    load: async () => (await import('../client/commands/backups.ts')).create,
  },
  {
    name: 'db backups',
    group: 'Datastores',
    summary: 'list the backups of a datastore',
    words: [DATASTORE],
    examples: ['db backups db', 'db backups db --quiet'],
    load: async () => (await import('../client/commands/backups.ts')).list,
  },
  {
    name: 'db download',
    group: 'Datastores',
    summary: 'download a backup (the newest), and compare its checksum',
    words: [DATASTORE, { name: 'backup', isOptional: true }],
    flags: [
      {
        name: 'output',
        short: 'o',
        value: 'file',
        summary: 'where it goes; - is standard output',
        completes: 'file',
      },
    ],
    more: 'A download that was cut goes on where it ended, also when it is run again.',
    examples: ['db download db', 'db download db bak-4f1d0c9a7b3e5d2f6a80 -o db.dump'],
    exits: { 1: 'what came differs from the checksum' },
    load: async () => (await import('../client/commands/download.ts')).download,
  },
  {
    name: 'db restore',
    group: 'Datastores',
    summary: 'restore a backup, and wait for the end',
    words: [DATASTORE, { name: 'backup' }],
    flags: [{ name: 'into', value: 'name', summary: 'restore into a new datastore of this name' }, DETACH],
    more: 'Without --into it replaces what the datastore holds, once that is confirmed; the old data is kept for a day.',
    examples: [
      'db restore db bak-4f1d0c9a7b3e5d2f6a80 --into db-of-yesterday',
      'db restore db bak-4f1d0c9a7b3e5d2f6a80',
    ],
    exits: { 1: 'the restore failed; the datastore holds what it held' },
    load: async () => (await import('../client/commands/backups.ts')).restore,
  },
]

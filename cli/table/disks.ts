import type { Command, Flag, Word } from '../command.ts'
import { MOVE_FLAGS } from './move-flags.ts'

const SERVICE: Word = { name: 'service', completes: 'service' }
const DETACH: Flag = { name: 'detach', summary: 'do not wait for the end' }

/** Backups of the disks of services. */
export const DISKS: readonly Command[] = [
  {
    name: 'disk backup',
    group: 'Services',
    summary: 'back the disks of a service up, and wait for the end',
    words: [SERVICE],
    flags: [
      { name: 'suspend', summary: 'stop the program for the copy, so that no file changes during it' },
      { name: 'disk', value: 'name', summary: 'only the disk of this name' },
      DETACH,
    ],
    examples: ['disk backup wiki', 'disk backup wiki --suspend'],
    exits: { 1: 'the backup failed', 5: 'another one is running, or the service has no disk' },
    load: async () => (await import('../client/commands/disks.ts')).create,
  },
  {
    name: 'disk backups',
    group: 'Services',
    summary: "list the backups of a service's disks",
    words: [SERVICE],
    examples: ['disk backups wiki', 'disk backups wiki --quiet'],
    load: async () => (await import('../client/commands/disks.ts')).list,
  },
  {
    name: 'disk download',
    group: 'Services',
    summary: 'download a backup of a disk (the newest), and compare its checksum',
    words: [SERVICE, { name: 'backup', isOptional: true }],
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
    examples: ['disk download wiki', 'disk download wiki dbk-4f1d0c9a7b3e5d2f6a80 -o wiki.tar.gz'],
    exits: { 1: 'what came differs from the checksum' },
    load: async () => (await import('../client/commands/disks.ts')).download,
  },
  {
    name: 'disk move',
    group: 'Services',
    summary: 'move a service with its disks to another node, and wait until they are there',
    words: [SERVICE, { name: 'node', isOptional: true }],
    flags: MOVE_FLAGS,
    more: `Its program is stopped while the disks are copied. The former ones are kept for a day. --from-backup is for a service
whose node is lost: it restores the newest backups of its disks, once that is confirmed.`,
    examples: ['disk move wiki worker-2', 'disk move wiki worker-2 --from-backup', 'disk move wiki --cancel'],
    exits: {
      1: 'it was not moved; the service is where it was',
      5: 'it is there already, busy, or has no disk',
    },
    load: async () => (await import('../client/commands/move.ts')).moveService,
  },
  {
    name: 'disk restore',
    group: 'Services',
    summary: 'restore a backup of a disk, and wait for the end',
    words: [SERVICE, { name: 'backup' }],
    flags: [
      {
        name: 'into',
        value: 'service',
        summary: 'restore over the disk of this service',
        completes: 'service',
      },
      { name: 'disk', value: 'name', summary: "restore over the disk of this name, not of the backup's" },
      DETACH,
    ],
    more: `It replaces the whole disk, once that is confirmed. The program stops for a moment, and the old disk is kept for a
day.`,
    examples: [
      'disk restore wiki dbk-4f1d0c9a7b3e5d2f6a80',
      'disk restore wiki dbk-4f1d0c9a7b3e5d2f6a80 --into wiki-test --yes',
    ],
    exits: { 1: 'the restore failed; the disk is as before' },
    load: async () => (await import('../client/commands/disks.ts')).restore,
  },
]

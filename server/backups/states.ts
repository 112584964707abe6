import { defineMachine } from '../state-machine.ts'

export const BACKUP_STATUSES = ['running', 'succeeded', 'failed'] as const
export type BackupStatus = (typeof BACKUP_STATUSES)[number]

export const BACKUP_TRIGGERS = ['manual', 'schedule', 'upgrade', 'server'] as const
export type BackupTrigger = (typeof BACKUP_TRIGGERS)[number]

/** The status changes of a backup. One that was running when the server ended has failed. */
export const backupMachine = defineMachine<BackupStatus>({
  table: 'backups',
  moves: { running: ['succeeded', 'failed'], succeeded: [], failed: [] },
})

import { defineMachine } from '../state-machine.ts'

export const SERVER_BACKUP_STATUSES = ['running', 'succeeded', 'failed', 'canceled'] as const
export type ServerBackupStatus = (typeof SERVER_BACKUP_STATUSES)[number]

export const SERVER_BACKUP_TRIGGERS = ['manual', 'schedule', 'upgrade'] as const
export type ServerBackupTrigger = (typeof SERVER_BACKUP_TRIGGERS)[number]

/** The status changes of a server backup. One whose file was not complete when the server ended has failed. */
export const serverBackupMachine = defineMachine<ServerBackupStatus>({
  table: 'server_backups',
  moves: { running: ['succeeded', 'failed', 'canceled'], succeeded: [], failed: [], canceled: [] },
})

/** The events that a notification can report. */
export const EVENT_TYPES = [
  'deploy.started',
  'deploy.succeeded',
  'deploy.failed',
  'service.down',
  'service.recovered',
  'service.out_of_memory',
  'service.moved',
  'job.failed',
  'job.missed',
  'datastore.down',
  'datastore.recovered',
  'datastore.moved',
  'backup.failed',
  'backup.overdue',
  'certificate.failed',
  'certificate.expiring',
  'restore.finished',
  'server.disk_low',
  'node.joined',
  'node.down',
  'node.up',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The type of a test message. */
export const TEST_TYPE = 'test'
export type MessageType = EventType | typeof TEST_TYPE

export const NOTIFICATION_KINDS = ['webhook', 'email', 'slack', 'discord', 'ntfy'] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/** A message as the body of a webhook has it; `text` says the same for people. */
export interface Message {
  type: MessageType
  timestamp: string
  /** What the server is called; null when it has no name. */
  server: string | null
  data: Record<string, unknown>
  text: { title: string; body: string }
}

/** What a message is about, for the filters of notifications; both null for the whole server. */
export interface Subject {
  environmentId: string | null
  serviceId: string | null
}

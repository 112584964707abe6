/** What a notification can tell of. */
export const EVENT_TYPES = [
  'deploy.started',
  'deploy.succeeded',
  'deploy.failed',
  'service.down',
  'service.recovered',
  'service.out_of_memory',
  'job.failed',
  'job.missed',
  'datastore.down',
  'datastore.recovered',
  'backup.failed',
  'certificate.failed',
  'certificate.expiring',
  'server.disk_low',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What a test sends. */
export const TEST_TYPE = 'test'
export type MessageType = EventType | typeof TEST_TYPE

export const NOTIFICATION_KINDS = ['webhook', 'email', 'slack', 'discord', 'ntfy'] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/** What is told, as a webhook's body has it; `text` is the same for people. */
export interface Message {
  type: MessageType
  timestamp: string
  data: Record<string, unknown>
  text: { title: string; body: string }
}

/** Of what a message is, for the filters of notifications; both null for what concerns the whole server. */
export interface Subject {
  environmentId: string | null
  serviceId: string | null
}

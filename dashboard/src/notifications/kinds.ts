import type { EventType, LogDrain, NotificationKind } from '../api/types.ts'

/** The name of each kind, and what its address looks like. */
export const KINDS: Record<NotificationKind, { label: string; field: string; example: string }> = {
  webhook: { label: 'Webhook', field: 'URL', example: 'https://example.com/hooks/deployer' },
  email: { label: 'E-mail', field: 'Recipients', example: 'ops@example.com, dev@example.com' },
  slack: { label: 'Slack', field: 'Webhook URL', example: 'https://hooks.slack.com/services/…' },
  discord: { label: 'Discord', field: 'Webhook URL', example: 'https://discord.com/api/webhooks/…' },
  ntfy: { label: 'ntfy', field: 'Topic URL', example: 'https://ntfy.sh/my-topic' },
}

export const DRAIN_KINDS: Record<LogDrain['kind'], { label: string; example: string }> = {
  syslog: { label: 'Syslog', example: 'tls://logs.example.com:6514' },
  http: { label: 'HTTP (JSON lines)', example: 'https://logs.example.com/ingest' },
  loki: { label: 'Loki', example: 'https://loki.example.com' },
  otlp: { label: 'OpenTelemetry (OTLP)', example: 'https://otel.example.com:4318' },
}

/** The names of the events. */
export const EVENTS: Record<EventType, string> = {
  'deploy.started': 'Deploy started',
  'deploy.succeeded': 'Deploy is live',
  'deploy.failed': 'Deploy failed',
  'service.down': 'Service down',
  'service.recovered': 'Service recovered',
  'service.out_of_memory': 'Out of memory',
  'service.moved': 'Service moved',
  'job.failed': 'Job failed',
  'job.missed': 'Job missed',
  'datastore.down': 'Datastore down',
  'datastore.recovered': 'Datastore recovered',
  'datastore.moved': 'Datastore moved',
  'backup.failed': 'Backup failed',
  'backup.overdue': 'Backup overdue',
  'restore.finished': 'Restore finished',
  'certificate.failed': 'Certificate failed',
  'certificate.expiring': 'Certificate expiring',
  'server.disk_low': 'Disk nearly full',
  'node.joined': 'Node joined',
  'node.down': 'Node down',
  'node.up': 'Node is back',
}

/** What a timeline tells of a service. What is a notification too has the same name there. */
export const SERVICE_EVENT_TYPES = [
  'service.created',
  'deploy.started',
  'deploy.succeeded',
  'deploy.failed',
  'deploy.canceled',
  'service.crashed',
  'service.out_of_memory',
  'service.unresponsive',
  'service.down',
  'service.recovered',
  'service.scaled',
  'service.suspended',
  'service.resumed',
  'service.updated',
  'variables.updated',
  'secret_files.updated',
  'job.failed',
  'job.missed',
  'domain.verified',
  'certificate.issued',
  'certificate.failed',
  'backup.succeeded',
  'backup.failed',
] as const
export type ServiceEventType = (typeof SERVICE_EVENT_TYPES)[number]

/** What comes before the dots: each selects all of its types. */
export const SERVICE_EVENT_NOUNS = [
  ...new Set(SERVICE_EVENT_TYPES.map((type) => type.slice(0, type.indexOf('.')))),
]

/**
 * The wire shapes that the pages read, from the server's own schemas. Types only: no server code and no zod enters the
 * browser.
 */
import type { z } from 'zod'
import type { AuthStatus as AuthStatusSchema, Session as SessionSchema } from '#server/accounts/schema.ts'
import type { BlueprintInput as BlueprintInputSchema } from '#server/blueprints/requests.ts'
import type {
  SyncedBlueprintInput as SyncedBlueprintInputSchema,
  SyncedBlueprintPatch as SyncedBlueprintPatchSchema,
} from '#server/blueprints/synced-schema.ts'
import type { CliLogin as CliLoginSchema } from '#server/cli-logins/schema.ts'
import type {
  DatastoreInput as DatastoreInputSchema,
  DatastorePatch as DatastorePatchSchema,
  DatastoreReference as DatastoreReferenceSchema,
} from '#server/datastores/schema.ts'
import type { RollbackInput as RollbackInputSchema } from '#server/deploys/schema.ts'
import type { DetectInput as DetectInputSchema } from '#server/detection/schema.ts'
import type { EnvGroupInput as EnvGroupInputSchema } from '#server/env-groups/schema.ts'
import type {
  Authorization as AuthorizationSchema,
  AuthorizeInput as AuthorizeInputSchema,
  Repositories as RepositoriesSchema,
  TokenInput as TokenInputSchema,
} from '#server/git/schema.ts'
import type {
  LogDrainInput as LogDrainInputSchema,
  LogDrainPatch as LogDrainPatchSchema,
} from '#server/log-drains/schema.ts'
import type { RequestPoint as RequestPointSchema } from '#server/metrics/schema.ts'
import type {
  CreatedNotification as CreatedNotificationSchema,
  NotificationInput as NotificationInputSchema,
  NotificationPatch as NotificationPatchSchema,
} from '#server/notifications/schema.ts'
import type {
  ServiceInput as ServiceInputSchema,
  ServicePatch as ServicePatchSchema,
} from '#server/services/input.ts'
import type { ApiToken as ApiTokenSchema } from '#server/tokens/schema.ts'

export type { Backup } from '#server/backups/schema.ts'
export type { BackupStatus, BackupTrigger } from '#server/backups/states.ts'
export type { CertificateEntry, CertificateState, UploadedCertificate } from '#server/certificates/schema.ts'
export type { Datastore } from '#server/datastores/schema.ts'
export type { DatastoreKind } from '#server/datastores/kinds.ts'
export type { DatastoreStatus } from '#server/datastores/states.ts'
export type { Domain, DomainCheck, HostCheck } from '#server/domains/schema.ts'
export type { DnsRecord } from '#server/environments/schema.ts'
export type { LogDrain, LogDrainDelivery } from '#server/log-drains/schema.ts'
export type { Notification, NotificationDelivery } from '#server/notifications/schema.ts'
export type { EventType, NotificationKind } from '#server/notifications/types.ts'
export type { GitConnection, Repository as GitRepository } from '#server/git/schema.ts'
export type { Delivery as GitDelivery } from '#server/hooks/delivery.ts'
export type { ServerInfo } from '#server/info.ts'
export type { Change } from '#server/changes.ts'
export type { RepositoryFile as BlueprintFile, SyncedBlueprint } from '#server/blueprints/synced-schema.ts'
export type { BlueprintAction, BlueprintResult } from '#server/blueprints/schema.ts'
export type { TestResult } from '#server/destinations/schema.ts'
export type { FaultDetail } from '#server/errors.ts'
export type { Detection } from '#server/detection/schema.ts'
export type { EnvGroup } from '#server/env-groups/schema.ts'
export type { Environment } from '#server/environments/schema.ts'
export type { Deploy, DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
export type { DeployStatus } from '#server/deploys/states.ts'
export type { Job, JobInput, JobTrigger } from '#server/jobs/schema.ts'
export type { JobStatus } from '#server/jobs/states.ts'
export type {
  CurrentMetrics,
  MetricsHistory,
  Range as MetricsRange,
  ServiceMetrics,
} from '#server/metrics/schema.ts'
export type { Runtime, Service, ServiceState, ServiceStatus } from '#server/services/schema.ts'
export type { EnvVar } from '#server/variables/schema.ts'
export type { ServiceType } from '#server/services/types.ts'

export type BlueprintInput = z.input<typeof BlueprintInputSchema>
export type SyncedBlueprintInput = z.input<typeof SyncedBlueprintInputSchema>
export type SyncedBlueprintPatch = z.input<typeof SyncedBlueprintPatchSchema>
export type DatastoreInput = z.input<typeof DatastoreInputSchema>
export type DatastorePatch = z.input<typeof DatastorePatchSchema>
export type DatastoreReference = z.infer<typeof DatastoreReferenceSchema>
export type DetectInput = z.input<typeof DetectInputSchema>
export type EnvGroupInput = z.input<typeof EnvGroupInputSchema>
export type ServiceInput = z.input<typeof ServiceInputSchema>
export type ServicePatch = z.input<typeof ServicePatchSchema>
export type RollbackInput = z.input<typeof RollbackInputSchema>

export type NotificationInput = z.input<typeof NotificationInputSchema>
export type NotificationPatch = z.input<typeof NotificationPatchSchema>
export type CreatedNotification = z.infer<typeof CreatedNotificationSchema>
export type LogDrainInput = z.input<typeof LogDrainInputSchema>
export type LogDrainPatch = z.input<typeof LogDrainPatchSchema>

export type AuthStatus = z.infer<typeof AuthStatusSchema>
export type User = NonNullable<AuthStatus['user']>
export type Session = z.infer<typeof SessionSchema>
export type ApiToken = z.infer<typeof ApiTokenSchema>
export type CliLogin = z.infer<typeof CliLoginSchema>

export type GitAuthorization = z.infer<typeof AuthorizationSchema>
export type GitRepositories = z.infer<typeof RepositoriesSchema>
export type GitAuthorizeInput = z.input<typeof AuthorizeInputSchema>
export type GitTokenInput = z.input<typeof TokenInputSchema>

export interface Branches {
  branches: string[]
  default_branch: string | null
  connection_id: string | null
}

/** A line of a deploy's, a job's or a service's log. */
export interface LogEvent {
  ts: string
  stream: 'stdout' | 'stderr' | 'system'
  line: string
  instance?: string | null
}

/** A line of the server's own log. */
export interface ServerLogEvent {
  ts: string
  level: 'debug' | 'info' | 'warn' | 'error'
  target: string
  message: string
  fields: Record<string, unknown>
}

/** The requests of one step. */
export type RequestPoint = z.infer<typeof RequestPointSchema>

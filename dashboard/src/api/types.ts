/**
 * The wire shapes that the pages read, from the server's own schemas. Types only: no server code and no zod enters the
 * browser.
 */
import type { z } from 'zod'
import type { AuthStatus as AuthStatusSchema, Session as SessionSchema } from '#server/accounts/schema.ts'
import type {
  Assertion as AssertionSchema,
  Attestation as AttestationSchema,
} from '#server/accounts/second-factors/input.ts'
import type {
  Passkey as PasskeySchema,
  PasskeyOptions as PasskeyOptionsSchema,
  SecondFactors as SecondFactorsSchema,
} from '#server/accounts/second-factors/schema.ts'
import type { BlueprintInput as BlueprintInputSchema } from '#server/blueprints/requests.ts'
import type {
  SyncedBlueprintInput as SyncedBlueprintInputSchema,
  SyncedBlueprintPatch as SyncedBlueprintPatchSchema,
} from '#server/blueprints/synced-schema.ts'
import type { CliLogin as CliLoginSchema } from '#server/cli-logins/schema.ts'
import type {
  Datastore as DatastoreSchema,
  DatastoreInput as DatastoreInputSchema,
  DatastorePatch as DatastorePatchSchema,
  DatastoreReference as DatastoreReferenceSchema,
} from '#server/datastores/schema.ts'
import type { DiscardInput as DiscardInputSchema } from '#server/deploys/comparison-schema.ts'
import type {
  DeployInput as DeployInputSchema,
  RollbackInput as RollbackInputSchema,
} from '#server/deploys/schema.ts'
import type { DeploySteps as DeployStepsSchema } from '#server/deploys/steps.ts'
import type {
  Overview as OverviewSchema,
  OverviewEntry as OverviewEntrySchema,
} from '#server/overview/schema.ts'
import type { DetectInput as DetectInputSchema } from '#server/detection/schema.ts'
import type { CleanupInput as CleanupInputSchema } from '#server/disk-use/schema.ts'
import type { EdgeDefaultsInput as EdgeDefaultsInputSchema } from '#server/edge/input.ts'
import type {
  EnvGroup as EnvGroupSchema,
  EnvGroupInput as EnvGroupInputSchema,
} from '#server/env-groups/schema.ts'
import type {
  Authorization as AuthorizationSchema,
  AuthorizeInput as AuthorizeInputSchema,
  Repositories as RepositoriesSchema,
  TokenInput as TokenInputSchema,
} from '#server/git/schema.ts'
import type {
  LogDrain as LogDrainSchema,
  LogDrainInput as LogDrainInputSchema,
  LogDrainPatch as LogDrainPatchSchema,
} from '#server/log-drains/schema.ts'
import type { MoveInput as MoveInputSchema } from '#server/moves/schema.ts'
import type { NodeInput as NodeInputSchema, NodePatch as NodePatchSchema } from '#server/nodes/schema.ts'
import type {
  RedirectHostInput as RedirectHostInputSchema,
  RedirectHostPatch as RedirectHostPatchSchema,
} from '#server/redirect-hosts/schema.ts'
import type {
  RegistryCredentialInput as RegistryCredentialInputSchema,
  RegistryCredentialPatch as RegistryCredentialPatchSchema,
} from '#server/registry-credentials/schema.ts'
import type { RequestPoint as RequestPointSchema } from '#server/metrics/schema.ts'
import type {
  CreatedNotification as CreatedNotificationSchema,
  NotificationInput as NotificationInputSchema,
  NotificationPatch as NotificationPatchSchema,
} from '#server/notifications/schema.ts'
import type {
  SecretFileContent as SecretFileContentSchema,
  SecretFile as SecretFileSchema,
  SecretFileInput as SecretFileInputSchema,
} from '#server/secret-files/schema.ts'
import type {
  ServiceInput as ServiceInputSchema,
  ServicePatch as ServicePatchSchema,
} from '#server/services/input.ts'
import type { Service as ServiceSchema } from '#server/services/schema.ts'
import type { ApiToken as ApiTokenSchema, NewApiToken as NewApiTokenSchema } from '#server/tokens/schema.ts'
import type { EnvVar as EnvVarSchema } from '#server/variables/schema.ts'

export type { AuditEvent } from '#server/audit/schema.ts'
export type { ServiceEvent } from '#server/service-events/schema.ts'
export type { ServiceRelations } from '#server/variables/relations.ts'
export type { Backup } from '#server/backups/schema.ts'
export type { BackupStatus, BackupTrigger } from '#server/backups/states.ts'
export type { ServerRestore, RestoreStep } from '#server/restore/schema.ts'
export type {
  ServerBackup,
  ServerBackupInput,
  ServerSettings,
  ServerSettingsPatch,
} from '#server/server-backups/schema.ts'
export type { CertificateEntry, CertificateState, UploadedCertificate } from '#server/certificates/schema.ts'
export type { DatastoreKind } from '#server/datastores/kinds.ts'
export type { DatastoreStatus } from '#server/datastores/states.ts'
export type { DiskBackup } from '#server/disks/schema.ts'
export type { Domain, DomainCheck, HostCheck } from '#server/domains/schema.ts'
export type { Finding } from '#server/doctor/schema.ts'
export type { DnsRecord } from '#server/environments/schema.ts'
export type { LogDrainDelivery } from '#server/log-drains/schema.ts'
export type { Move } from '#server/moves/schema.ts'
export type { Node, NodeCheck, NodeInvitation, NodeMetrics } from '#server/nodes/schema.ts'
export type { Notification, NotificationDelivery } from '#server/notifications/schema.ts'
export type { EventType, NotificationKind } from '#server/notifications/types.ts'
export type { SearchHit } from '#server/search/schema.ts'
export type { RedirectHost } from '#server/redirect-hosts/schema.ts'
export type { RegistryCredential, RegistryVerification } from '#server/registry-credentials/schema.ts'
export type { GitConnection, Repository as GitRepository } from '#server/git/schema.ts'
export type { Delivery as GitDelivery } from '#server/hooks/delivery.ts'
export type { ServerInfo } from '#server/info.ts'
export type { Change } from '#server/changes.ts'
export type { RepositoryFile as BlueprintFile, SyncedBlueprint } from '#server/blueprints/synced-schema.ts'
export type { BlueprintAction, BlueprintResult } from '#server/blueprints/schema.ts'
export type { TestResult } from '#server/destinations/schema.ts'
export type { FaultDetail, SecondFactor } from '#server/errors.ts'
export type { Detection } from '#server/detection/schema.ts'
export type { CleanupResult, DiskUse } from '#server/disk-use/schema.ts'
export type { Environment } from '#server/environments/schema.ts'
export type { Sample, SampleName } from '#server/samples/catalog.ts'
export type { Comparison, Discarded } from '#server/deploys/comparison-schema.ts'
export type { Deploy, DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
export type { DeployStatus } from '#server/deploys/states.ts'
export type { Shell } from '#server/shells/schema.ts'
export type { DeployStep } from '#server/logs/steps.ts'
export type { Job, JobInput, JobTrigger } from '#server/jobs/schema.ts'
export type { JobStatus } from '#server/jobs/states.ts'
export type {
  CurrentMetrics,
  MetricsHistory,
  Range as MetricsRange,
  ServiceMetrics,
} from '#server/metrics/schema.ts'
export type { Runtime, ServiceState, ServiceStatus } from '#server/services/schema.ts'
export type { EnvVar } from '#server/variables/schema.ts'
export type { ServiceType } from '#server/services/types.ts'

/** Secrets are null only for API tokens that see none, and the pages have a session. */
type Seen<T, Secrets extends keyof T> = Omit<T, Secrets> & { [K in Secrets]: NonNullable<T[K]> }
export type Service = Seen<ServiceSchema, 'deploy_hook_key' | 'deploy_hook_path'>
export type Datastore = Seen<DatastoreSchema, 'password' | 'internal_url'>
export type LogDrain = Seen<LogDrainSchema, 'url'>
export type SecretFile = Seen<SecretFileSchema, 'sha256'>
export type SecretFileContent = Seen<SecretFileContentSchema, 'sha256' | 'content_base64'>
export type EnvGroup = Omit<EnvGroupSchema, 'vars'> & { vars: EnvVarSchema[] }

/** An entry of an overview, by what it is. */
type Entry<Kind, Type, State> = Omit<OverviewEntrySchema, 'kind' | 'type' | 'state'> & {
  kind: Kind
  type: Type
  state: State
}
export type ServiceEntry = Entry<'service', ServiceSchema['type'], ServiceSchema['state']>
export type DatastoreEntry = Entry<'datastore', DatastoreSchema['kind'], DatastoreSchema['status']>
export type OverviewEntry = ServiceEntry | DatastoreEntry
export type Overview = Omit<OverviewSchema, 'entries'> & { entries: OverviewEntry[] }

export type BlueprintInput = z.input<typeof BlueprintInputSchema>
export type SyncedBlueprintInput = z.input<typeof SyncedBlueprintInputSchema>
export type SyncedBlueprintPatch = z.input<typeof SyncedBlueprintPatchSchema>
export type DatastoreInput = z.input<typeof DatastoreInputSchema>
export type DatastorePatch = z.input<typeof DatastorePatchSchema>
export type DatastoreReference = z.infer<typeof DatastoreReferenceSchema>
export type DetectInput = z.input<typeof DetectInputSchema>
export type CleanupInput = z.input<typeof CleanupInputSchema>
export type SecretFileInput = z.input<typeof SecretFileInputSchema>
export type EdgeDefaultsPatch = z.input<typeof EdgeDefaultsInputSchema>
export type EnvGroupInput = z.input<typeof EnvGroupInputSchema>
export type ServiceInput = z.input<typeof ServiceInputSchema>
export type ServicePatch = z.input<typeof ServicePatchSchema>
export type DeployInput = z.input<typeof DeployInputSchema>
export type DiscardInput = z.input<typeof DiscardInputSchema>
export type RollbackInput = z.input<typeof RollbackInputSchema>

export type NotificationInput = z.input<typeof NotificationInputSchema>
export type NotificationPatch = z.input<typeof NotificationPatchSchema>
export type CreatedNotification = z.infer<typeof CreatedNotificationSchema>
export type LogDrainInput = z.input<typeof LogDrainInputSchema>
export type LogDrainPatch = z.input<typeof LogDrainPatchSchema>
export type MoveInput = z.input<typeof MoveInputSchema>
export type NodeInput = z.input<typeof NodeInputSchema>
export type NodePatch = z.input<typeof NodePatchSchema>
export type RedirectHostInput = z.input<typeof RedirectHostInputSchema>
export type RedirectHostPatch = z.input<typeof RedirectHostPatchSchema>
export type RegistryCredentialInput = z.input<typeof RegistryCredentialInputSchema>
export type RegistryCredentialPatch = z.input<typeof RegistryCredentialPatchSchema>

export type AuthStatus = z.infer<typeof AuthStatusSchema>
export type User = NonNullable<AuthStatus['user']>
export type Session = z.infer<typeof SessionSchema>
export type PasskeyAssertion = z.input<typeof AssertionSchema>
export type PasskeyAttestation = z.input<typeof AttestationSchema>
export type Passkey = z.infer<typeof PasskeySchema>
export type PasskeyOptions = z.infer<typeof PasskeyOptionsSchema>
export type SecondFactors = z.infer<typeof SecondFactorsSchema>
export type ApiToken = z.infer<typeof ApiTokenSchema>
export type NewApiToken = z.input<typeof NewApiTokenSchema>
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

/** The steps of a deploy with their times. */
export type DeploySteps = DeployStepsSchema
/** How long a step took in another deploy. */
export type StepTimes = NonNullable<DeploySteps['steps'][number]['previous']>

/** A line of a deploy's, a job's or a service's log. */
export interface LogEvent {
  ts: string
  stream: 'stdout' | 'stderr' | 'system' | 'access'
  line: string
  instance?: string | null
  step?: string
}

/** A line among those of several services; a remark of the server about the reading has no service. */
export interface ServiceLogEvent extends LogEvent {
  service_id?: string
  service?: string
  deploy_id?: string
  level?: 'debug' | 'info' | 'warn' | 'error'
}
export type { LogHistogram } from '#server/logs/schema.ts'

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

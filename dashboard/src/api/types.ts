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
import type { RollbackInput as RollbackInputSchema } from '#server/deploys/schema.ts'
import type {
  ServiceInput as ServiceInputSchema,
  ServicePatch as ServicePatchSchema,
} from '#server/services/schema.ts'
import type { ApiToken as ApiTokenSchema } from '#server/tokens/schema.ts'

export type { CertificateEntry, CertificateState, UploadedCertificate } from '#server/certificates/schema.ts'
export type { Domain, DomainCheck } from '#server/domains/schema.ts'
export type { DnsRecord } from '#server/environments/schema.ts'
export type { ServerInfo } from '#server/info.ts'
export type { Change } from '#server/changes.ts'
export type { RepositoryFile as BlueprintFile, SyncedBlueprint } from '#server/blueprints/synced-schema.ts'
export type { BlueprintAction, BlueprintResult } from '#server/blueprints/schema.ts'
export type { ErrorCode, FaultDetail } from '#server/errors.ts'
export type { EnvGroup } from '#server/env-groups/schema.ts'
export type { Environment } from '#server/environments/schema.ts'
export type { Deploy, DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
export type { DeployStatus } from '#server/deploys/states.ts'
export type { Job, JobInput, JobTrigger } from '#server/jobs/schema.ts'
export type { JobStatus } from '#server/jobs/states.ts'
export type { EnvVar, Runtime, Service, ServiceState, ServiceStatus } from '#server/services/schema.ts'
export type { ServiceType } from '#server/services/types.ts'

export type BlueprintInput = z.input<typeof BlueprintInputSchema>
export type SyncedBlueprintInput = z.input<typeof SyncedBlueprintInputSchema>
export type SyncedBlueprintPatch = z.input<typeof SyncedBlueprintPatchSchema>
export type ServiceInput = z.input<typeof ServiceInputSchema>
export type ServicePatch = z.input<typeof ServicePatchSchema>
export type RollbackInput = z.input<typeof RollbackInputSchema>

export type AuthStatus = z.infer<typeof AuthStatusSchema>
export type User = NonNullable<AuthStatus['user']>
export type Session = z.infer<typeof SessionSchema>
export type ApiToken = z.infer<typeof ApiTokenSchema>
export type CliLogin = z.infer<typeof CliLoginSchema>

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

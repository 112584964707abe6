import type {
  ApiToken,
  AuditEvent,
  AuthStatus,
  BlueprintFile,
  BlueprintInput,
  BlueprintResult,
  Backup,
  Branches,
  CertificateEntry,
  CleanupInput,
  CleanupResult,
  CliLogin,
  Comparison,
  Datastore,
  DatastoreInput,
  DatastorePatch,
  DatastoreReference,
  CurrentMetrics,
  CreatedNotification,
  Deploy,
  DeployInput,
  DeploySteps,
  DetectInput,
  Discarded,
  DiscardInput,
  DiskBackup,
  Detection,
  DiskUse,
  EnvGroup,
  EnvGroupInput,
  EdgeDefaultsPatch,
  Environment,
  Domain,
  EnvVar,
  Finding,
  GitAuthorization,
  GitAuthorizeInput,
  GitConnection,
  GitDelivery,
  GitRepositories,
  GitTokenInput,
  HostCheck,
  Job,
  JobInput,
  MetricsHistory,
  MetricsRange,
  LogHistogram,
  LogDrain,
  LogDrainDelivery,
  LogDrainInput,
  LogDrainPatch,
  MoveInput,
  Node,
  NodeCheck,
  NodeInput,
  NodeInvitation,
  NodeMetrics,
  NodePatch,
  Notification,
  SecretFile,
  SecretFileContent,
  SecretFileInput,
  ServerBackup,
  ServerBackupInput,
  ServerRestore,
  ServerSettings,
  ServerSettingsPatch,
  NewApiToken,
  NotificationDelivery,
  NotificationInput,
  NotificationPatch,
  Overview,
  RollbackInput,
  Sample,
  ServerInfo,
  Service,
  ServiceInput,
  RedirectHost,
  RedirectHostInput,
  RedirectHostPatch,
  RegistryCredential,
  RegistryCredentialInput,
  RegistryCredentialPatch,
  RegistryVerification,
  SearchHit,
  ServiceEvent,
  ServiceMetrics,
  ServicePatch,
  ServiceRelations,
  Passkey,
  PasskeyAssertion,
  PasskeyAttestation,
  PasskeyOptions,
  SecondFactors,
  ServiceStatus,
  Shell,
  Session,
  SyncedBlueprint,
  SyncedBlueprintInput,
  SyncedBlueprintPatch,
  TestResult,
  UploadedCertificate,
} from './types.ts'

/** What the dashboard calls: method and path below /api/v1, with the body, the query and the answer of each. */
export interface Routes {
  'GET /auth/status': { reply: AuthStatus }
  'POST /auth/setup': { body: { code: string; email: string; password: string }; reply: AuthStatus }
  'POST /auth/login': {
    body: { email: string; password: string; code?: string } | { passkey: PasskeyAssertion }
    reply: AuthStatus
  }
  'POST /auth/logout': { reply: void }
  'POST /auth/password': { body: { current_password: string; new_password: string }; reply: void }
  'GET /auth/sessions': { reply: Session[] }
  'DELETE /auth/sessions/{id}': { reply: void }
  'GET /auth/second-factors': { reply: SecondFactors }
  'POST /auth/totp': { reply: { secret: string; uri: string } }
  'POST /auth/totp/confirm': { body: { code: string }; reply: { recovery_codes: string[] } }
  'DELETE /auth/totp': { body: { current_password: string }; reply: void }
  'POST /auth/passkeys/options': { body: { purpose: 'sign_in' | 'register' }; reply: PasskeyOptions }
  'POST /auth/passkeys': { body: { name: string; credential: PasskeyAttestation }; reply: Passkey }
  'DELETE /auth/passkeys/{id}': { reply: void }
  'POST /auth/recovery-codes': { reply: { recovery_codes: string[] } }
  'POST /auth/verify': { body: { code: string } | { passkey: PasskeyAssertion }; reply: void }
  'GET /auth/tokens': { reply: ApiToken[] }
  'POST /auth/tokens': {
    body: NewApiToken
    reply: { api_token: ApiToken; token: string }
  }
  'DELETE /auth/tokens/{id}': { reply: void }
  'GET /auth/cli/{id}': { reply: CliLogin }
  'POST /auth/cli/{id}/approve': { body: { code: string; expires_at?: string }; reply: CliLogin }
  'POST /auth/cli/{id}/deny': { reply: CliLogin }
  'GET /info': { reply: ServerInfo }
  'GET /search': { query: { q: string }; reply: SearchHit[] }
  'GET /git/connections': { reply: GitConnection[] }
  'POST /git/connections': { body: GitTokenInput; reply: GitConnection }
  'GET /git/connections/{id}': { reply: GitConnection }
  'DELETE /git/connections/{id}': { query: { force?: boolean }; reply: void }
  'GET /git/connections/{id}/repositories': { reply: GitRepositories }
  'POST /git/authorize': { body: GitAuthorizeInput; reply: GitAuthorization }
  'POST /git/callback': {
    body: { state?: string; code?: string; installation_id?: string }
    reply: GitAuthorization
  }
  'GET /git/deliveries': { query: { limit?: number }; reply: GitDelivery[] }
  'GET /git/branches': { query: { repo_url: string }; reply: Branches }
  'GET /git/ssh-key': { reply: { public_key: string } }
  'POST /detect': { body: DetectInput; reply: Detection }
  'GET /environments': { reply: Environment[] }
  'POST /environments': { body: { name: string }; reply: Environment }
  'GET /environments/{id}': { reply: Environment }
  'PATCH /environments/{id}': { body: { edge_defaults: EdgeDefaultsPatch | null }; reply: Environment }
  'DELETE /environments/{id}': { reply: void }
  'GET /environments/{id}/overview': { reply: Overview }
  'POST /environments/{id}/verify': { reply: HostCheck[] }
  'GET /overview': { reply: Overview }
  'GET /env-groups': { reply: EnvGroup[] }
  'POST /env-groups': { body: EnvGroupInput; reply: EnvGroup }
  'GET /env-groups/{id}': { reply: EnvGroup }
  'DELETE /env-groups/{id}': { query: { force?: boolean; restart?: boolean }; reply: void }
  'PATCH /env-groups/{id}/env': {
    body: { set: EnvVar[]; unset: string[] }
    query: { restart?: boolean }
    reply: EnvGroup
  }
  'GET /env-groups/{id}/secret-files': { reply: SecretFile[] }
  'GET /env-groups/{id}/secret-files/{name}': { reply: SecretFileContent }
  'PUT /env-groups/{id}/secret-files/{name}': {
    body: SecretFileInput
    query: { restart?: boolean }
    reply: SecretFile
  }
  'DELETE /env-groups/{id}/secret-files/{name}': { query: { restart?: boolean }; reply: void }
  'GET /logs/histogram': { query: Record<string, string | number>; reply: LogHistogram }
  'GET /services': { query: { environment?: string }; reply: Service[] }
  'POST /services': { body: ServiceInput; reply: Service }
  'GET /services/{id}': { query: { environment?: string }; reply: Service }
  'PATCH /services/{id}': { body: ServicePatch; reply: Service }
  'DELETE /services/{id}': { query: { force?: boolean }; reply: void }
  'GET /services/{id}/changes': { reply: Comparison }
  'POST /services/{id}/changes/discard': { body: DiscardInput; reply: Discarded }
  'GET /services/{id}/status': { reply: ServiceStatus }
  'GET /services/{id}/events': { query: { limit?: number; before?: string }; reply: ServiceEvent[] }
  'GET /services/{id}/relations': { reply: ServiceRelations }
  'GET /services/{id}/metrics': { query: { range?: MetricsRange }; reply: ServiceMetrics }
  'GET /server/disk': { reply: DiskUse }
  'POST /server/cleanup': { body: CleanupInput; reply: CleanupResult }
  'GET /audit-events': {
    query: {
      since?: string
      until?: string
      actor?: string
      action?: string
      resource?: string
      outcome?: string
      limit?: number
    }
    reply: AuditEvent[]
  }
  'GET /server/doctor': { reply: Finding[] }
  'GET /server/metrics': { reply: CurrentMetrics }
  'GET /server/metrics/history': { query: { range?: MetricsRange }; reply: MetricsHistory }
  'GET /services/{id}/deploys': { query: { limit?: number }; reply: Deploy[] }
  'POST /services/{id}/deploys': { body: DeployInput; reply: Deploy }
  'POST /services/{id}/restart': { reply: Deploy }
  'POST /services/{id}/rollback': { body: RollbackInput; reply: Deploy }
  'POST /services/{id}/suspend': { reply: Service }
  'POST /services/{id}/resume': { reply: Service }
  'POST /services/{id}/scale': { body: { instances: number }; reply: Service }
  'POST /services/{id}/deploy-hook/rotate': { reply: Service }
  'GET /services/{id}/disk/backups': { reply: DiskBackup[] }
  'POST /services/{id}/disk/backups': { body: { suspend: boolean }; reply: DiskBackup }
  'DELETE /services/{id}/disk/backups/{backup_id}': { reply: void }
  'POST /services/{id}/disk/backups/{backup_id}/restore': { body: { service?: string }; reply: Service }
  'POST /services/{id}/move': { body: MoveInput; reply: Service }
  'POST /services/{id}/move/cancel': { reply: Service }
  'GET /services/{id}/env': { reply: EnvVar[] }
  'PATCH /services/{id}/env': {
    body: { set: EnvVar[]; unset: string[] }
    query: { restart?: boolean }
    reply: EnvVar[]
  }
  'GET /services/{id}/secret-files': { reply: SecretFile[] }
  'GET /services/{id}/secret-files/{name}': { reply: SecretFileContent }
  'PUT /services/{id}/secret-files/{name}': {
    body: SecretFileInput
    query: { restart?: boolean }
    reply: SecretFile
  }
  'DELETE /services/{id}/secret-files/{name}': { query: { restart?: boolean }; reply: void }
  'POST /services/{id}/env-groups': { body: { group: string }; reply: Service }
  'DELETE /services/{id}/env-groups/{group}': { reply: Service }
  'GET /services/{id}/jobs': { query: { limit?: number }; reply: Job[] }
  'POST /services/{id}/jobs': { body: JobInput; reply: Job }
  'POST /services/{id}/shells': {
    body: { rows: number; cols: number; instance?: string | undefined; fresh?: boolean }
    reply: Shell
  }
  'GET /jobs/{job_id}': { reply: Job }
  'POST /jobs/{job_id}/cancel': { reply: Job }
  'GET /services/{id}/domains': { reply: string[] }
  'POST /services/{id}/domains': { body: { domain: string }; reply: string[] }
  'DELETE /services/{id}/domains/{domain}': { reply: string[] }
  'POST /services/{id}/domains/{domain}/verify': { reply: HostCheck }
  'GET /datastores': { query: { environment?: string }; reply: Datastore[] }
  'POST /datastores': { body: DatastoreInput; reply: Datastore }
  'GET /datastores/{id}': { query: { environment?: string }; reply: Datastore }
  'PATCH /datastores/{id}': { body: DatastorePatch; reply: Datastore }
  'DELETE /datastores/{id}': { query: { force?: boolean }; reply: void }
  'POST /datastores/{id}/shells': { body: { rows: number; cols: number }; reply: Shell }
  'POST /datastores/{id}/upgrade': { body: { version: string }; reply: Datastore }
  'POST /datastores/{id}/move': { body: MoveInput; reply: Datastore }
  'POST /datastores/{id}/move/cancel': { reply: Datastore }
  'GET /datastores/{id}/references': { reply: DatastoreReference[] }
  'GET /datastores/{id}/backups': { reply: Backup[] }
  'POST /datastores/{id}/backups': { reply: Backup }
  'DELETE /datastores/{id}/backups/{backup_id}': { reply: void }
  'POST /datastores/{id}/backups/{backup_id}/restore': { body: { name?: string }; reply: Datastore }
  'GET /server/backups': { reply: ServerBackup[] }
  'POST /server/backups': { body: ServerBackupInput; reply: ServerBackup }
  'POST /server/backups/{id}/cancel': { reply: ServerBackup }
  'POST /server/backups/{id}/verify': { reply: ServerBackup }
  'DELETE /server/backups/{id}': { reply: void }
  'GET /samples': { reply: Sample[] }
  'GET /server/settings': { reply: ServerSettings }
  'PATCH /server/settings': { body: ServerSettingsPatch; reply: ServerSettings }
  'GET /server/restore': { reply: ServerRestore | null }
  'POST /server/restore/confirm': { reply: ServerRestore }
  'GET /domains': { reply: Domain[] }
  'POST /domains': { body: { name: string }; reply: Domain }
  'PATCH /domains/{id}': { body: { is_default: boolean }; reply: Domain }
  'DELETE /domains/{id}': { reply: void }
  'POST /domains/{id}/verify': { reply: Domain }
  'GET /certificates': { reply: CertificateEntry[] }
  'GET /certificates/uploaded': { reply: UploadedCertificate[] }
  'POST /certificates/uploaded': {
    body: { certificate: string; private_key: string }
    reply: UploadedCertificate
  }
  'DELETE /certificates/uploaded/{id}': { reply: void }
  'GET /blueprints': { reply: SyncedBlueprint[] }
  'POST /blueprints': { body: SyncedBlueprintInput; reply: SyncedBlueprint }
  'PATCH /blueprints/{id}': { body: SyncedBlueprintPatch; reply: SyncedBlueprint }
  'DELETE /blueprints/{id}': { reply: void }
  'POST /blueprints/{id}/sync': { reply: BlueprintResult }
  'GET /blueprints/file': {
    query: { repo_url: string; branch?: string; path?: string }
    reply: BlueprintFile
  }
  'POST /blueprints/apply': { body: BlueprintInput; reply: BlueprintResult }
  'POST /blueprints/convert': { body: { compose: string }; reply: { yaml: string; warnings: string[] } }
  'GET /deploys/{deploy_id}': { reply: Deploy }
  'GET /deploys/{deploy_id}/steps': { reply: DeploySteps }
  'GET /deploys/{deploy_id}/compare': { query: { with?: string }; reply: Comparison }
  'POST /deploys/{deploy_id}/cancel': { reply: Deploy }
  'GET /notifications': { reply: Notification[] }
  'POST /notifications': { body: NotificationInput; reply: CreatedNotification }
  'PATCH /notifications/{id}': { body: NotificationPatch; reply: Notification }
  'DELETE /notifications/{id}': { reply: void }
  'POST /notifications/{id}/test': { reply: TestResult }
  'GET /notifications/{id}/deliveries': { reply: NotificationDelivery[] }
  'GET /log-drains': { reply: LogDrain[] }
  'POST /log-drains': { body: LogDrainInput; reply: LogDrain }
  'PATCH /log-drains/{id}': { body: LogDrainPatch; reply: LogDrain }
  'DELETE /log-drains/{id}': { reply: void }
  'GET /log-drains/{id}/deliveries': { reply: LogDrainDelivery[] }
  'POST /log-drains/{id}/test': { reply: TestResult }
  'GET /nodes': { reply: Node[] }
  'POST /nodes': { body: NodeInput; reply: NodeInvitation | Node[] }
  'PATCH /nodes/{id}': { body: NodePatch; reply: Node }
  'DELETE /nodes/{id}': { query: { lost?: boolean }; reply: void }
  'GET /nodes/{id}/metrics': { reply: NodeMetrics }
  'POST /nodes/{id}/check': { reply: NodeCheck }
  'GET /redirects': { reply: RedirectHost[] }
  'POST /redirects': { body: RedirectHostInput; reply: RedirectHost }
  'PATCH /redirects/{id}': { body: RedirectHostPatch; reply: RedirectHost }
  'DELETE /redirects/{id}': { reply: void }
  'GET /registry-credentials': { reply: RegistryCredential[] }
  'POST /registry-credentials': { body: RegistryCredentialInput; reply: RegistryCredential }
  'PATCH /registry-credentials/{id}': { body: RegistryCredentialPatch; reply: RegistryCredential }
  'DELETE /registry-credentials/{id}': { query: { force?: boolean }; reply: void }
  'POST /registry-credentials/{id}/verify': { reply: RegistryVerification }
}

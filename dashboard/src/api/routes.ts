import type {
  ApiToken,
  AuthStatus,
  BlueprintFile,
  BlueprintInput,
  BlueprintResult,
  Backup,
  Branches,
  CertificateEntry,
  CliLogin,
  Datastore,
  DatastoreInput,
  DatastorePatch,
  DatastoreReference,
  CurrentMetrics,
  CreatedNotification,
  Deploy,
  DetectInput,
  Detection,
  EnvGroup,
  EnvGroupInput,
  Environment,
  Domain,
  EnvVar,
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
  LogDrain,
  LogDrainDelivery,
  LogDrainInput,
  LogDrainPatch,
  Notification,
  NotificationDelivery,
  NotificationInput,
  NotificationPatch,
  RollbackInput,
  ServerInfo,
  Service,
  ServiceInput,
  ServiceMetrics,
  ServicePatch,
  ServiceStatus,
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
  'POST /auth/login': { body: { email: string; password: string }; reply: AuthStatus }
  'POST /auth/logout': { reply: void }
  'POST /auth/password': { body: { current_password: string; new_password: string }; reply: void }
  'GET /auth/sessions': { reply: Session[] }
  'DELETE /auth/sessions/{id}': { reply: void }
  'GET /auth/tokens': { reply: ApiToken[] }
  'POST /auth/tokens': {
    body: { name: string; expires_at?: string }
    reply: { api_token: ApiToken; token: string }
  }
  'DELETE /auth/tokens/{id}': { reply: void }
  'GET /auth/cli/{id}': { reply: CliLogin }
  'POST /auth/cli/{id}/approve': { body: { code: string; expires_at?: string }; reply: CliLogin }
  'POST /auth/cli/{id}/deny': { reply: CliLogin }
  'GET /info': { reply: ServerInfo }
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
  'DELETE /environments/{id}': { reply: void }
  'POST /environments/{id}/verify': { reply: HostCheck[] }
  'GET /env-groups': { reply: EnvGroup[] }
  'POST /env-groups': { body: EnvGroupInput; reply: EnvGroup }
  'GET /env-groups/{id}': { reply: EnvGroup }
  'DELETE /env-groups/{id}': { query: { force?: boolean; restart?: boolean }; reply: void }
  'PATCH /env-groups/{id}/env': {
    body: { set: EnvVar[]; unset: string[] }
    query: { restart?: boolean }
    reply: EnvGroup
  }
  'GET /services': { query: { environment?: string }; reply: Service[] }
  'POST /services': { body: ServiceInput; reply: Service }
  'GET /services/{id}': { query: { environment?: string }; reply: Service }
  'PATCH /services/{id}': { body: ServicePatch; reply: Service }
  'DELETE /services/{id}': { query: { force?: boolean }; reply: void }
  'GET /services/{id}/status': { reply: ServiceStatus }
  'GET /services/{id}/metrics': { query: { range?: MetricsRange }; reply: ServiceMetrics }
  'GET /server/metrics': { reply: CurrentMetrics }
  'GET /server/metrics/history': { query: { range?: MetricsRange }; reply: MetricsHistory }
  'GET /services/{id}/deploys': { query: { limit?: number }; reply: Deploy[] }
  'POST /services/{id}/deploys': { body: { commit?: string; clear_cache?: boolean }; reply: Deploy }
  'POST /services/{id}/restart': { reply: Deploy }
  'POST /services/{id}/rollback': { body: RollbackInput; reply: Deploy }
  'POST /services/{id}/suspend': { reply: Service }
  'POST /services/{id}/resume': { reply: Service }
  'POST /services/{id}/scale': { body: { instances: number }; reply: Service }
  'POST /services/{id}/deploy-hook/rotate': { reply: Service }
  'GET /services/{id}/env': { reply: EnvVar[] }
  'PATCH /services/{id}/env': {
    body: { set: EnvVar[]; unset: string[] }
    query: { restart?: boolean }
    reply: EnvVar[]
  }
  'POST /services/{id}/env-groups': { body: { group: string }; reply: Service }
  'DELETE /services/{id}/env-groups/{group}': { reply: Service }
  'GET /services/{id}/jobs': { query: { limit?: number }; reply: Job[] }
  'POST /services/{id}/jobs': { body: JobInput; reply: Job }
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
  'POST /datastores/{id}/upgrade': { body: { version: string }; reply: Datastore }
  'GET /datastores/{id}/references': { reply: DatastoreReference[] }
  'GET /datastores/{id}/backups': { reply: Backup[] }
  'POST /datastores/{id}/backups': { reply: Backup }
  'DELETE /datastores/{id}/backups/{backup_id}': { reply: void }
  'POST /datastores/{id}/backups/{backup_id}/restore': { body: { name?: string }; reply: Datastore }
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
}

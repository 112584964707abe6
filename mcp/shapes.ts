import { z } from 'zod'

/**
 * What leaves of each resource. These are lists of what may leave, not of what may not: a field that the API gains, which
 * may be a secret, is left out until it is written here. A field without a value is left out too.
 */

const text = z.string().nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()
const texts = z.array(z.string()).nullish()

/** How each answer says that there is more. */
export const MORE = {
  truncated: z.boolean().nullish(),
  next_cursor: text,
}

export const Deploy = z.object({
  id: z.string(),
  status: z.string(),
  trigger: text,
  source: z.object({ kind: text, repo_url: text, branch: text }).nullish(),
  commit_sha: text,
  commit_message: text,
  commit_author: text,
  image: text,
  port: number,
  error: text,
  waiting: z.object({ for: text, since: text }).nullish(),
  created_at: text,
  started_at: text,
  finished_at: text,
})

/** What a tool that starts a deploy tells of it; `get_deploy` has the rest. */
export const StartedDeploy = Deploy.pick({
  id: true,
  status: true,
  commit_sha: true,
  image: true,
  error: true,
  waiting: true,
  finished_at: true,
})

export const Job = z.object({
  id: z.string(),
  status: z.string(),
  trigger: text,
  command: text,
  image: text,
  exit_code: number,
  error: text,
  created_at: text,
  started_at: text,
  finished_at: text,
})

/** What a tool that starts a job tells of it. */
export const StartedJob = Job.pick({ id: true, status: true, exit_code: true, error: true })

/** What a list shows of a service. */
export const ServiceSummary = z.object({
  name: z.string(),
  environment: z.string(),
  type: text,
  state: text,
  url: text,
  instances: number,
  repo_url: text,
  image: text,
  deployed_at: text,
})

/** The settings of a service, without its variables and without the key of its deploy hook. */
export const Settings = z.object({
  id: z.string(),
  name: z.string(),
  environment: z.string(),
  type: text,
  state: text,
  url: text,
  runtime: text,
  repo_url: text,
  branch: text,
  root_dir: text,
  dockerfile_path: text,
  image: text,
  registry_credential: text,
  build_command: text,
  start_command: text,
  publish_dir: text,
  pre_deploy_command: text,
  health_check_path: text,
  port: number,
  schedule: text,
  disk_mount_path: text,
  disks: z.array(z.object({ name: z.string(), mount_path: z.string() })).nullish(),
  disk_backup_schedule: text,
  disk_backup_retention: number,
  instances: number,
  memory_limit_mb: number,
  cpu_limit: number,
  apt_packages: texts,
  auto_deploy: flag,
  suspended: flag,
  watch_paths: texts,
  custom_domains: texts,
  canonical_domain: text,
  compression: flag,
  env_groups: texts,
  hosts: texts,
  internal_host: text,
  internal_port: number,
  live_deploy_id: text,
  created_at: text,
  updated_at: text,
})

export const Instance = z.object({
  name: z.string(),
  state: text,
  health: text,
  started_at: text,
  restarts: number,
  exit_code: number,
  reason: text,
  cpu_percent: number,
  memory_bytes: number,
})

/** A datastore without its password and the URLs that contain it. */
export const Datastore = z.object({
  id: z.string(),
  name: z.string(),
  kind: text,
  version: text,
  environment: text,
  status: text,
  error: text,
  database: text,
  username: text,
  internal_host: text,
  internal_port: number,
  disk_bytes: number,
  memory_limit_mb: number,
  cpu_limit: number,
  backup_schedule: text,
  backup_retention: number,
  created_at: text,
})

export const Backup = z.object({
  id: z.string(),
  status: text,
  trigger: text,
  size_bytes: number,
  error: text,
  created_at: text,
  finished_at: text,
})

export const Environment = z.object({
  name: z.string(),
  services: texts,
  datastores: texts,
  url_pattern: text,
})

export const LogLine = z.object({
  ts: z.string(),
  stream: text,
  level: text,
  line: z.string(),
  instance: text,
})

export const PlannedAction = z.object({
  resource: z.string(),
  name: z.string(),
  action: z.string(),
  changes: texts,
})

export { flag, number, text, texts }

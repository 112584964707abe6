import { z } from 'zod'

const text = z.string().optional()
const texts = z.array(z.string()).optional()
const number = z.number().optional()
const flag = z.boolean().optional()

/**
 * The settings of a service that can be chosen and changed, in the API's words. The server judges their values. Those of its edge
 * and of how it stops are left to people: the list of tools must stay short.
 */
export const SETTINGS = {
  runtime: text.describe('auto, docker, image, static or a language'),
  repo_url: text,
  branch: text,
  root_dir: text,
  dockerfile_path: text,
  image: text,
  registry_credential: text,
  build_command: text,
  start_command: text,
  pre_deploy_command: text,
  publish_dir: text.describe('Folder of a static site'),
  health_check_path: text,
  port: z.int().nullable().optional(),
  schedule: text.describe('Five fields, UTC'),
  disk_mount_path: text,
  disks: z.unknown().optional().describe('[{name, mount_path}]'),
  disk_backup_schedule: text.describe('Five fields, UTC'),
  disk_backup_retention: number,
  apt_packages: texts,
  memory_limit_mb: number,
  cpu_limit: number,
  auto_deploy: flag.describe('Deploy on push'),
  watch_paths: texts,
  compression: flag,
  env_groups: texts,
}

/** What only a new service takes. Domains and variables of an existing one are not replaced, so that none is lost. */
export const NEW_SERVICE = {
  name: z.string(),
  type: z.enum(['web_service', 'private_service', 'background_worker', 'static_site', 'cron_job']).optional(),
  ...SETTINGS,
  instances: number,
  custom_domains: texts,
  canonical_domain: text,
  env: z.array(z.strictObject({ key: z.string(), value: z.string() })).optional(),
  deploy: flag.describe('false: without a first deploy'),
}

/** A rollback takes them from the settings of now. */
const LIMITS = ['memory_limit_mb', 'cpu_limit'] as const
/** The settings that hold from the next deploy on, by the moment at which a deploy takes them. */
export const TAKEN = {
  /** When it is queued. */
  source: ['repo_url', 'branch', 'image'],
  /** When it begins. */
  build: ['runtime', 'root_dir', 'dockerfile_path', 'build_command', 'publish_dir', 'apt_packages'],
  /** When its image is there; variables, env groups and secret files, too. */
  run: ['start_command', 'pre_deploy_command', 'health_check_path', 'port', 'disks', ...LIMITS],
  limits: LIMITS,
} as const

/** The settings that a deploy takes: changes of any other hold at once. */
export const SETUP_FIELDS = [...TAKEN.source, ...TAKEN.build, ...TAKEN.run] as const
export type SetupField = (typeof SETUP_FIELDS)[number]

/** What can differ of a secret file. */
export const FILE_PARTS = ['content', 'path', 'mode'] as const

/** What may not be known of a setup, by the field of a service. */
export const UNKNOWN_FIELDS = [...SETUP_FIELDS, 'env', 'env_groups', 'secret_files'] as const

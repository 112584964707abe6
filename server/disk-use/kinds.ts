/** What the server fills disks with. */
export const DISK_KINDS = [
  'images',
  'build_cache',
  'archives',
  'sites',
  'logs',
  'mirrors',
  'datastore_backups',
  'server_backups',
  'datastores',
  'disks',
  'kept_volumes',
  'database',
  'metrics',
] as const
export type DiskKind = (typeof DISK_KINDS)[number]

/** What a cleanup can remove some of. */
export const CLEANUP_KINDS = [
  'images',
  'build_cache',
  'archives',
  'sites',
  'logs',
  'mirrors',
  'kept_volumes',
] as const satisfies readonly DiskKind[]
export type CleanupKind = (typeof CLEANUP_KINDS)[number]

import type { DiskUse } from '../api/types.ts'

export type DiskKind = DiskUse['kinds'][number]['kind']

/** How each kind of what takes room reads, and what one of it is. */
export const DISK_KIND: Record<DiskKind, { label: string; about: string }> = {
  images: { label: 'Images', about: 'of live deploys, and of five earlier ones of each service' },
  build_cache: { label: 'Build cache', about: 'makes builds fast' },
  archives: { label: 'Uploads', about: 'sources that were uploaded' },
  sites: { label: 'Static sites', about: 'published folders' },
  logs: { label: 'Logs', about: 'of deploys, jobs, services and datastores' },
  mirrors: { label: 'Repositories', about: 'copies that make fetches fast' },
  datastore_backups: { label: 'Backups of datastores', about: '' },
  server_backups: { label: 'Backups of the server', about: '' },
  datastores: { label: 'Datastores', about: 'what they hold now' },
  disks: { label: 'Disks of services', about: '' },
  kept_volumes: { label: 'Replaced data', about: 'of restores and upgrades, kept for a day' },
  database: { label: "The server's database", about: '' },
  metrics: { label: 'History of metrics', about: '' },
}

/** The page of what an entry belongs to; null if it has none. */
export function pathOf(id: string, name: string): string | null {
  if (id.startsWith('srv-')) return `/services/${name}`
  return id.startsWith('dbs-') ? `/datastores/${name}` : null
}

import { AppError } from '../errors.ts'
import { DISK } from './states.ts'

/** Each is a volume, which a program can divide into folders. */
export const MAX_DISKS = 8

/** One disk of a service, as its settings name it. */
export interface Disk {
  name: string
  mount_path: string
}

/** The disks of a service, in the order in which they were set. */
export function disksOf({ disks }: { disks: string }): Disk[] {
  return JSON.parse(disks) as Disk[]
}

/**
 * The disks that a request sets: `disks` is the whole list, `disk_mount_path` the path of the first one, and null takes the
 * first one away. Undefined if it sets neither. Throws `invalid_request` if the two contradict each other.
 */
export function wantedDisks(
  given: { disks?: Disk[] | undefined; disk_mount_path?: string | null | undefined },
  current: readonly Disk[],
): Disk[] | undefined {
  const { disks, disk_mount_path: path } = given
  if (path === undefined) return disks
  if (disks !== undefined) {
    if ((disks[0]?.mount_path ?? null) === path) return disks
    throw new AppError('invalid_request', 'disk_mount_path: must be the mount_path of the first of disks')
  }
  const [first, ...others] = current
  if (path === null) return others
  const changed = [{ name: first?.name ?? DISK, mount_path: path }, ...others]
  const fault = disksFault(changed)
  if (fault !== null) throw new AppError('invalid_request', `disk_mount_path: ${fault}`)
  return changed
}

/** What is wrong with a list of disks, worded to follow the field's name, or null. */
export function disksFault(disks: readonly Disk[]): string | null {
  for (const [index, { name, mount_path: path }] of disks.entries())
    for (const other of disks.slice(0, index)) {
      if (other.name === name) return `has two disks named ${name}`
      if (isInside(path, other.mount_path) || isInside(other.mount_path, path))
        return `${name} and ${other.name} must be at two paths of which neither contains the other`
    }
  return null
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** How messages name a disk: by its name only if the service could have another one. */
export function diskTitle(service: { name: string; disks: string }, disk: string): string {
  const isOnly = disk === DISK && disksOf(service).every(({ name }) => name === DISK)
  return `the disk${isOnly ? '' : ` ${disk}`} of service ${service.name}`
}

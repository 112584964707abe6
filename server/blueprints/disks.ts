import type { Disk } from '../disks/list.ts'
import { DISK } from '../disks/states.ts'

/** A service's settings with its disks as a file has them: as `disk_mount_path` where that says everything, else as `disks`. */
export function withWrittenDisks<T extends { disks: Disk[]; disk_mount_path: string | null }>(
  settings: T,
): T {
  const [first, ...others] = settings.disks
  const isPlain = first?.name === DISK && others.length === 0
  return isPlain ? { ...settings, disks: [] } : { ...settings, disk_mount_path: null }
}

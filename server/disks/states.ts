export const DISK_RESTORE_STATUSES = ['running', 'succeeded', 'failed'] as const
export type DiskRestoreStatus = (typeof DISK_RESTORE_STATUSES)[number]

/** The name of the disk that `disk_mount_path` alone gives a service. */
export const DISK = 'data'

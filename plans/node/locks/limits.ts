/** Lock files of large workspaces have several megabytes. */
export const MAX_LOCK_BYTES = 32 * 1024 * 1024

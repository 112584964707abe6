/** How much disk space a checkout may use, including git's own files: the disk is shared with running services. */
const MAX_CHECKOUT_BYTES = 2 * 1024 ** 3
/** Each file costs an inode; no public repository has more. */
const MAX_CHECKOUT_FILES = 500_000

/** The message for a repository that is too large. */
export const TOO_LARGE = `the repository takes more than ${MAX_CHECKOUT_BYTES / 1024 ** 3} GiB or ${MAX_CHECKOUT_FILES} files: deploy a smaller one, or upload an archive of only what the build needs`

/** Over all depths, since each is a repository to fetch. The largest public projects have 200. */
export const MAX_SUBMODULES = 500

/** The message for a repository with more. */
export const TOO_MANY_SUBMODULES = `the repository has more than ${MAX_SUBMODULES} submodules: deploy one with fewer`

/** The disk usage of a tree; folders count as files. */
export interface CheckoutUse {
  bytes: number
  files: number
}

/** Whether a tree with this many bytes and files is too large for a checkout. */
export function isTooLarge(bytes: number, files: number): boolean {
  return bytes > MAX_CHECKOUT_BYTES || files > MAX_CHECKOUT_FILES
}

/** What a checkout may take of the disk, git's own files included: the disk is shared with running services. */
const MAX_CHECKOUT_BYTES = 2 * 1024 ** 3
/** Each file costs an inode; larger repositories than this do not exist in public. */
const MAX_CHECKOUT_FILES = 500_000

/** What is said of a repository that is too large. */
export const TOO_LARGE = `the repository takes more than ${MAX_CHECKOUT_BYTES / 1024 ** 3} GiB or ${MAX_CHECKOUT_FILES} files: deploy a smaller one, or upload an archive without what the build does not need`

/** Of all depths: each is a repository that is asked for. The largest public projects have 200. */
export const MAX_SUBMODULES = 500

/** What is said of a repository with more. */
export const TOO_MANY_SUBMODULES = `the repository has more than ${MAX_SUBMODULES} submodules: deploy one with fewer`

/** What a tree takes; folders are files too. */
export interface CheckoutUse {
  bytes: number
  files: number
}

/** Whether a tree of that many bytes and files is too large to be laid out. */
export function isTooLarge(bytes: number, files: number): boolean {
  return bytes > MAX_CHECKOUT_BYTES || files > MAX_CHECKOUT_FILES
}

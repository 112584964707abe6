/** The file systems of common git hosts refuse longer ref names (255 bytes per component). */
const MAX_REF_BYTES = 255

/** The shortest abbreviation that git accepts (git-rev-parse(1), core.abbrev), and the longest: 64 is a SHA-256. */
const HEXADECIMAL_COMMIT = /^[0-9a-f]{4,64}$/i

/** Why a text is not a branch name (the rules of git-check-ref-format(1)); null when it is one. */
export function branchNameFault(name: string): string | null {
  if (name === '') return 'must not be empty'
  if (Buffer.byteLength(name) > MAX_REF_BYTES) return `must have at most ${MAX_REF_BYTES} bytes`
  if (name.startsWith('-')) return 'must not begin with "-"'
  if (name === 'HEAD' || name === '@') return `must not be "${name}": leave it out for the default branch`
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) {
    return 'must not contain spaces, control characters or any of ~ ^ : ? * [ \\'
  }
  if (name.includes('..') || name.includes('@{') || name.includes('//'))
    return 'must not contain "..", "@{" or "//"'
  if (name.startsWith('/') || name.endsWith('/') || name.endsWith('.'))
    return 'must not begin or end with "/" or end with "."'
  const parts = name.split('/')
  if (parts.some((part) => part.startsWith('.') || part.endsWith('.lock'))) {
    return 'must not have a part that begins with "." or ends with ".lock"'
  }
  return null
}

/** Why a text cannot name a commit (4 to 64 hex characters, or a ref name); null when it can. */
export function commitFault(text: string): string | null {
  if (HEXADECIMAL_COMMIT.test(text)) return null
  const fault = branchNameFault(text)
  return fault === null ? null : `${fault}; give 4 to 64 hex characters or the name of a branch or tag`
}

/**
 * Whether a full ref is a branch or a tag. Hosts also keep other refs, such as those of pull requests, which strangers
 * write.
 */
export function isBranchOrTag(name: string): boolean {
  return /^refs\/(heads|tags)\//.test(name)
}

/** The branch or tag that was pushed. */
export interface Pushed {
  kind: 'branch' | 'tag'
  branch: string
  /** The default branch of the repository. */
  defaultBranch: string | null
}

/** Whether a push is to what a setting `branch` follows: that branch or tag, or the default branch when it is null. */
export function isFollowed(setting: string | null, { kind, branch, defaultBranch }: Pushed): boolean {
  return setting === null ? kind === 'branch' && branch === defaultBranch : setting === branch
}

/** Whether a text is a full commit id (SHA-1 or SHA-256), which needs no look-up. */
export function isFullCommit(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)
}

/** Whether a text can be the beginning of a commit id. */
export function isAbbreviatedCommit(text: string): boolean {
  return HEXADECIMAL_COMMIT.test(text) && !isFullCommit(text)
}

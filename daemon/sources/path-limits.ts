/** The limits of Linux (limits.h); its own file systems all support names of this length. */
const MAX_PATH_BYTES = 4_096
const MAX_NAME_BYTES = 255

/** The message for a repository with a longer path. */
export const PATH_TOO_LONG =
  'a path in the repository is too long for the file system, or all paths together are too long: shorten them'

/** Whether a path is too long for any file. Bytes that are not UTF-8 count as one, since their replacement is longer. */
export function isPathTooLong(path: string): boolean {
  if (path.length <= MAX_NAME_BYTES / 3) return false
  const isLonger = (text: string, max: number): boolean =>
    Buffer.byteLength(text.replaceAll('\ufffd', '?')) > max
  return isLonger(path, MAX_PATH_BYTES) || path.split('/').some((name) => isLonger(name, MAX_NAME_BYTES))
}

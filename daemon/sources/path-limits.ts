/** What Linux takes (limits.h); every file system of its own has names of this length. */
const MAX_PATH_BYTES = 4_096
const MAX_NAME_BYTES = 255

/** What is said of a repository with a longer one. */
export const PATH_TOO_LONG =
  'a path of the repository is too long for the file system, or all are together: shorten it'

/** Whether no file can lie at a path. Of bytes that are not UTF-8 only what stands for them is known, which is longer. */
export function isPathTooLong(path: string): boolean {
  if (path.length <= MAX_NAME_BYTES / 3) return false
  const isLonger = (text: string, most: number): boolean =>
    Buffer.byteLength(text.replaceAll('\ufffd', '?')) > most
  return isLonger(path, MAX_PATH_BYTES) || path.split('/').some((name) => isLonger(name, MAX_NAME_BYTES))
}

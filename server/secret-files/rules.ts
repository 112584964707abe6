import { mountPathFault, normalMountPath } from '../services/rules.ts'

/** Where a file is that has no path of its own. */
const FOLDER = '/etc/secrets'
/** Also the id of a build's secret, so nothing that such an id must escape. */
export const NAME_PATTERN = /^[A-Za-z0-9._-]{1,128}$/
/** Owner, group and others; no bit that changes whom a program runs as. */
export const MODE_PATTERN = /^0[0-7]{3}$/
/** Keys, certificates and settings are a few KiB; each deploy keeps a copy of all files of its service. */
export const MAX_TOTAL_BYTES = 1024 * 1024
/** Empty files count for nothing in the total. */
export const MAX_FILES = 100
/** A quarter of what the kernel takes (PATH_MAX). */
const MAX_PATH_CHARACTERS = 1_024
/** Of one part of a path (NAME_MAX). */
const MAX_PART_BYTES = 255
/** Where programs, and what they are linked with, lie in an image. */
const PROGRAM_FOLDERS = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/usr/lib64',
  '/usr/libexec',
]

/** What is wrong with the name of a secret file, or null. */
export function nameFault(name: string): string | null {
  const isName = NAME_PATTERN.test(name) && name !== '.' && name !== '..'
  return isName ? null : 'must be 1 to 128 of a-z, A-Z, 0-9, dot, hyphen and _, and not . or ..'
}

/** What is wrong with the path of a secret file, or null: the rules of mount paths, and no file of the system is hidden. */
export function pathFault(path: string): string | null {
  const fault = mountPathFault(path)
  if (fault !== null) return fault
  if (path.endsWith('/')) return 'must be the path of a file, without a slash at its end'
  const place = normalMountPath(path)
  if (place.length > MAX_PATH_CHARACTERS) return `must have at most ${MAX_PATH_CHARACTERS} characters`
  const parts = place.split('/')
  if (!path.isWellFormed() || parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES))
    return `must consist of names of at most ${MAX_PART_BYTES} bytes in UTF-8`
  if (parts.length === 3 && parts[1] === 'etc') return 'must not be directly in /etc: use a folder in it'
  const folder = PROGRAM_FOLDERS.find((system) => isWithin(place, system))
  return folder === undefined ? null : `must not be in ${folder}, which belongs to the system`
}

/** The path of a secret file, normalized; its default without one. */
export function placeOf(name: string, path: string | undefined): string {
  return path === undefined ? `${FOLDER}/${name}` : normalMountPath(path)
}

/** A file without its content. */
export interface PlacedFile {
  name: string
  path: string
  size_bytes: number
}

/** A secret file as containers and builds get it. */
export interface GivenFile {
  name: string
  path: string
  /** Octal, such as `0400`. */
  mode: string
  /** In base64. */
  content: string
}

/** The field that a fault of files is about, and what is wrong. */
export type FilesFault = [field: 'name' | 'content' | 'path', message: string]

/** What is wrong with files taken together, next to disks at these paths; or null. */
export function filesFault(files: readonly PlacedFile[], mounts: readonly string[]): FilesFault | null {
  if (files.length > MAX_FILES) return ['name', `more than ${MAX_FILES} secret files`]
  const total = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (total > MAX_TOTAL_BYTES)
    return ['content', `${total} bytes in secret files, which may have ${MAX_TOTAL_BYTES} together`]
  for (const [index, { name, path }] of files.entries()) {
    for (const other of files.slice(0, index)) {
      if (other.path === path)
        return ['path', `two secret files at ${path}: ${[other.name, name].toSorted().join(' and ')}`]
      if (isWithin(path, other.path) || isWithin(other.path, path))
        return ['path', `a secret file where ${other.path} or ${path} needs a folder`]
    }
    const mount = mounts.find((disk) => isWithin(path, disk) || isWithin(disk, path))
    if (mount !== undefined)
      return ['path', `the secret file ${name} at ${path}, where its disk is mounted (${mount})`]
  }
  return null
}

/** Whether a path is a folder or in it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

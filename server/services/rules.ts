/** Each rule returns what is wrong with a value, worded to follow the field's name in a message, or null. */

/** A path inside the source tree: relative, and never outside of it. */
export function relativePathFault(path: string): string | null {
  if (path.startsWith('/') || path.startsWith('~')) return 'must be relative to the source tree'
  if (path.split('/').includes('..')) return 'must not leave the source tree (..)'
  return hasControlCharacter(path) || path.includes('\\')
    ? 'must not contain control characters or backslashes'
    : null
}

/** The path of a Dockerfile, which may be outside the folder that is built. */
export function dockerfilePathFault(path: string): string | null {
  return relativePathFault(path.replace(/^(?:\.\.\/)+/, ''))
}

/** The path of a health probe: origin-form (RFC 9112 section 3.2.1). */
export function healthPathFault(path: string): string | null {
  return /^\/[!-~]*$/.test(path) && !path.includes('#')
    ? null
    : 'must start with / and contain only visible ASCII characters, without #'
}

/** Folders that an image needs as they are. */
const SYSTEM_FOLDERS = [
  ...['/', '/proc', '/sys', '/dev', '/etc', '/usr', '/bin', '/sbin', '/lib', '/lib64', '/var/run'],
  ...['/usr/bin', '/usr/sbin', '/usr/lib', '/usr/lib64'],
]
/** Folders of the kernel; nothing may be mounted below them either. */
const KERNEL_FOLDERS = ['/proc/', '/sys/', '/dev/']

/** Where a disk is mounted: an absolute path that replaces no system folder. */
export function mountPathFault(path: string): string | null {
  if (!path.startsWith('/')) return 'must be absolute, such as /data'
  if (path.split('/').includes('..')) return 'must not contain ..'
  if (hasControlCharacter(path) || /[:,\\]/.test(path))
    return 'must not contain control characters, colons, commas or backslashes'
  const folder = normalMountPath(path)
  const isSystem =
    SYSTEM_FOLDERS.includes(folder) || KERNEL_FOLDERS.some((kernel) => folder.startsWith(kernel))
  return isSystem ? `must not be ${folder}, which belongs to the system` : null
}

/** Normalizes a mount path: no double or trailing slashes and no `.` segments. */
export function normalMountPath(path: string): string {
  return `/${path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')}`
}

/** C0 and DEL: never part of a path, a name or a header. */
function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** The name of a Debian package (Debian Policy, 5.6.1). No program can read it as an option. */
export const APT_PACKAGE = /^[a-z0-9][a-z0-9+.-]+$/

import type { Service } from '../api/types.ts'

type Disks = Service['disks']

/** The disk that a line with nothing but a path means. */
const UNNAMED = 'data'

/** Disks as a text: a name and a path a line; a single one named `data` is just its path. */
export function disksText(disks: Disks): string {
  const [first, ...others] = disks
  if (first?.name === UNNAMED && others.length === 0) return first.mount_path
  return disks.map(({ name, mount_path }) => `${name} ${mount_path}`).join('\n')
}

/** The disks that such a text names. The server judges them. */
export function disksIn(text: string): Disks {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.startsWith('/') ? -1 : line.search(/\s/)
      if (at === -1) return { name: UNNAMED, mount_path: line }
      return { name: line.slice(0, at), mount_path: line.slice(at).trim() }
    })
}

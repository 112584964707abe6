import { posix } from 'node:path'
import { EXIT, type Fault } from '../../fault.ts'
import type { Contents } from './entries.ts'
import { packingFault } from './faults.ts'

/** As many as show what to leave out. */
const SHOWN = 5
const MIB = 1024 * 1024

/** The fault for a folder that is too large, with its largest files and folders. */
export function explainTooLarge({ entries }: Contents, limitBytes: number): Fault {
  const sizes = new Map<string, number>()
  for (const { kind, path, size } of entries) if (kind === 'file') sizes.set(path, size)
  const folders = foldersOf(sizes)
  const limit = `${limitBytes / MIB} MiB`
  return packingFault(
    EXIT.wrongWords,
    `the folder is larger than ${limit} as packed; leave out in .deployerignore what the build does not need` +
      ` (largest files: ${largest(sizes)}${folders.size === 0 ? '' : `; largest folders: ${largest(folders)}`})`,
  )
}

/** What is in each folder. One with nothing but another folder is left out. */
function foldersOf(files: Map<string, number>): Map<string, number> {
  const folders = new Map<string, number>()
  for (const [path, size] of files)
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
      folders.set(folder, (folders.get(folder) ?? 0) + size)
  const around = [...folders].flatMap(([folder, size]) => {
    const parent = posix.dirname(folder)
    return folders.get(parent) === size ? [parent] : []
  })
  for (const folder of around) folders.delete(folder)
  return folders
}

function largest(sizes: Map<string, number>): string {
  return [...sizes]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, SHOWN)
    .map(([path, size]) => `${path} ${(size / MIB).toFixed(1)} MiB`)
    .join(', ')
}

import { createHash } from 'node:crypto'
import { basename, extname, join, relative } from 'node:path'
import { ENTRY_FILES, ENTRY_FOLDER } from '#agent/protocol.ts'
import type { CertificateFiles, RouteTable, Site } from '#proxy/protocol.ts'

/** As much of a digest as never occurs twice by chance. */
const DIGEST_CHARACTERS = 32

/** A path of this server in a table, and the name of its copy in an entry. */
export interface Copied {
  path: string
  name: string
}

/** Where copies with these names are in an entry. */
export function copyAt(name: string): string {
  return join(ENTRY_FOLDER, ENTRY_FILES, name)
}

/**
 * The table with the paths of copies in an entry in place of this server's, which are below `dataDirectory`, and what must be
 * copied for it: `files` and `folders`, each once.
 */
export function withCopies(
  table: RouteTable,
  dataDirectory: string,
): { table: RouteTable; files: Copied[]; folders: Copied[] } {
  const files = new Map<string, Copied>()
  const folders = new Map<string, Copied>()
  const file = (path: string) => copied(files, path, () => nameOfFile(dataDirectory, path))
  // Caches of clients know large files by the name of the folder, which is an id.
  const folder = (path: string) => copied(folders, path, () => basename(path))
  const pair = ({ certificate, key }: CertificateFiles) => ({
    certificate: file(certificate),
    key: file(key),
  })
  const site = (found: Site): Site => ({
    folder: folder(found.folder),
    earlier: found.earlier.map((each) => ({ ...each, folder: folder(each.folder) })),
  })
  const changed: RouteTable = {
    ...table,
    targets: mapped(table.targets, (target) =>
      target.site ? { ...target, site: site(target.site) } : target,
    ),
    certificates: mapped(table.certificates, pair),
    tls_challenges: mapped(table.tls_challenges, pair),
  }
  return { table: changed, files: [...files.values()], folders: [...folders.values()] }
}

/** The name of a file's copy: its content never changes, and hosts are no names of files. */
export function nameOfFile(dataDirectory: string, path: string): string {
  const digest = createHash('sha256').update(relative(dataDirectory, path)).digest('hex')
  return `${digest.slice(0, DIGEST_CHARACTERS)}${extname(path)}`
}

function copied(known: Map<string, Copied>, path: string, nameOf: () => string): string {
  let copy = known.get(path)
  if (!copy) known.set(path, (copy = { path, name: nameOf() }))
  return copyAt(copy.name)
}

function mapped<Value>(
  record: Record<string, Value>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

import { Readable } from 'node:stream'
import type { Reach } from '#server/reach/addresses.ts'
import { BuildFailure } from '../builds/failure.ts'
import { withReader, type Reader } from '../reader/reader.ts'
import { isTooLarge, TOO_LARGE } from './checkout-limits.ts'
import { READ_POINTERS, WRITE_OBJECTS } from './jobs.ts'
import { endpointOf } from './lfs-endpoint.ts'
import { LfsServer } from './lfs-server.ts'
import type { WorkingTree } from './working-tree.ts'

/** Files that one repository has Git LFS keep: each is a request of its own. */
const MAX_FILES = 20_000
/** Their paths go from process to process whole. */
const MAX_PATHS_CHARACTERS = 4 * 1024 * 1024

export interface LfsRequest {
  tree: WorkingTree
  reach: Reach
  /** Reads the pointers. */
  reader: Reader
  signal: AbortSignal
  onLine: (line: string) => void
}

/** Puts the files that Git LFS keeps in place of their pointers. Throws BuildFailure with what to do. */
export async function fetchLfsFiles(request: LfsRequest): Promise<void> {
  const { tree, reach, reader, signal, onLine } = request
  const paths = await listFiles(tree)
  if (paths.length === 0) return
  const { directory } = tree
  const objects = await reader.ask(READ_POINTERS, { directory, paths })
  if (objects.length === 0) return
  const bytes = objects.reduce((sum, object) => sum + object.size * object.paths.length, 0)
  if (isTooLarge(bytes, paths.length)) throw new BuildFailure(TOO_LARGE)
  onLine(`fetching ${objects.length} files kept by Git LFS`)
  const server = new LfsServer(await endpointOf(tree), reach, signal)
  const content = Readable.from(server.read(objects), { objectMode: false })
  try {
    await withReader(signal, (writer) => writer.feed(WRITE_OBJECTS, { directory, objects }, content))
  } finally {
    content.destroy()
    await server.close()
  }
}

/** Whatever their content: git has said which files have the filter (gitattributes(5)). */
async function listFiles(tree: WorkingTree): Promise<string[]> {
  const paths: string[] = []
  let characters = 0
  const onPath = (path: string): void => {
    paths.push(path)
    characters += path.length
    if (paths.length > MAX_FILES || characters > MAX_PATHS_CHARACTERS)
      throw new BuildFailure(
        `Git LFS keeps more than ${MAX_FILES} files of the repository, or at paths too long: deploy a smaller one`,
      )
  }
  await tree.git(['ls-files', '-z', '--', ':(top,attr:filter=lfs)'], onPath, '\0')
  return paths
}

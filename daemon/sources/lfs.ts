import { Readable } from 'node:stream'
import { BuildFailure } from '#plans/index.ts'
import { withReader, type Reader } from '../reader/reader.ts'
import { isTooLarge, TOO_LARGE, type CheckoutUse } from './checkout-limits.ts'
import { withAccess, withRemote, type RemoteAccess } from './git-remote.ts'
import { READ_POINTERS, WRITE_OBJECTS } from './reader-calls.ts'
import type { JudgedTree } from './judged-tree.ts'
import type { KeptTree } from './kept-tree.ts'
import { configuredAddress, endpointOf } from './lfs-endpoint.ts'
import { LfsRefusal, LfsClient, type LfsEndpoint } from './lfs-client.ts'
import type { LfsObject } from './lfs-files.ts'
import type { Repository } from './repository.ts'

/** The most Git LFS files of one repository: each is a request of its own. */
const MAX_FILES = 20_000
/** Limited, since their paths are sent from process to process in one message. */
const MAX_PATHS_CHARACTERS = 4 * 1024 * 1024

/** The files of a tree that may be in Git LFS, and where the commit says that they are. */
export interface LfsListing {
  paths: string[]
  address: string | null
}

/** What a commit says about Git LFS; null when none of its files are stored there. Throws BuildFailure or GitError. */
export async function listLfsFiles(
  repository: Repository,
  tree: KeptTree,
  judged: JudgedTree,
): Promise<LfsListing | null> {
  if (judged.attributes === null) return null
  const paths = await listPaths(tree)
  return paths.length === 0 ? null : { paths, address: await configuredAddress(repository, judged) }
}

export interface LfsRequest {
  listing: LfsListing
  /** The folder with the tree of the repository. */
  directory: string
  /** The access to the repository. */
  access: RemoteAccess
  /** What the checkout uses without them. */
  used: CheckoutUse
  /** Reads the pointers. */
  reader: Reader
  signal: AbortSignal
  onLine: (line: string) => void
}

/** Replaces Git LFS pointers by their files; returns the space that they use. Throws BuildFailure with what to do. */
export async function fetchLfsFiles(request: LfsRequest): Promise<CheckoutUse> {
  const { listing, directory, access, used, reader, signal, onLine } = request
  const objects = await reader.ask(READ_POINTERS, { directory, paths: listing.paths })
  if (objects.length === 0) return NOTHING
  const bytes = objects.reduce((sum, object) => sum + object.size * object.paths.length, 0)
  if (isTooLarge(used.bytes + bytes, used.files)) throw new BuildFailure(TOO_LARGE)
  onLine(`fetching ${objects.length === 1 ? 'a file' : `${objects.length} files`} from Git LFS`)
  await withAccess(access, refusalOf, async (now) => {
    const endpoint = await withRemote(now, signal, (remote) => endpointOf(remote, listing.address))
    await fetchObjects(endpoint, objects, request)
  })
  return { bytes, files: 0 }
}

function refusalOf(fault: unknown): LfsRefusal['status'] | null {
  return fault instanceof LfsRefusal ? fault.status : null
}

async function fetchObjects(
  endpoint: LfsEndpoint,
  objects: LfsObject[],
  { directory, access, signal }: LfsRequest,
): Promise<void> {
  const client = new LfsClient(endpoint, access.reach, signal)
  const content = Readable.from(client.read(objects), { objectMode: false })
  try {
    await withReader(signal, (writer) => writer.feed(WRITE_OBJECTS, { directory, objects }, content))
  } finally {
    content.destroy()
    await client.close()
  }
}

const NOTHING: CheckoutUse = { bytes: 0, files: 0 }

/** The paths of the files that have the filter, whatever their content (gitattributes(5)). */
async function listPaths(tree: KeptTree): Promise<string[]> {
  const paths: string[] = []
  let characters = 0
  const onPath = (path: string): void => {
    paths.push(path)
    characters += path.length
    if (paths.length > MAX_FILES || characters > MAX_PATHS_CHARACTERS)
      throw new BuildFailure(
        `the repository has more than ${MAX_FILES} files in Git LFS, or their paths are too long: deploy a smaller one`,
      )
  }
  await tree.git(['ls-files', '-z', '--', ':(top,attr:filter=lfs)'], onPath, '\0')
  return paths
}

import { createReadStream, createWriteStream } from 'node:fs'
import { access, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack, type Pack } from 'tar-stream'
import { PRIVATE_FILE_MODE } from '../files.ts'
import type { SampleName } from './catalog.ts'

/** Node has 150 MB: compressing it would take seconds, for a file that never leaves this host. */
const UNCOMPRESSED = 0
/** Usual pieces would mean ten thousand writes. */
const PIECE_BYTES = 1024 * 1024
const PROGRAM_MODE = 0o755
const FILE_MODE = 0o644

/** Where the image of the sample `server` has Node, below the folder that its Dockerfile copies. */
const NODE = 'usr/local/bin/node'
/** This program, even if an upgrade has replaced its file. */
const OWN_NODE = '/proc/self/exe'
/** Where the loader looks up in which folders the libraries are. Some systems have none. */
const LIBRARY_CACHE = '/etc/ld.so.cache'

/** A file of an archive. */
interface Entry {
  name: string
  file: string
  mode: number
}

/**
 * Writes a sample to `path` (mode 0600) as the `.tar.gz` of its source tree. The server's image has no base image: its tree
 * holds the Node that runs this program, with the libraries that it has loaded, so that nothing has to be downloaded. Fails
 * with the error of a file that cannot be read or written; nothing is left at `path` then.
 */
export async function writeSample(sample: SampleName, path: string): Promise<void> {
  const partial = `${path}.partial`
  const archive = pack()
  const written = pipeline(
    archive,
    createGzip({ level: UNCOMPRESSED, chunkSize: PIECE_BYTES }),
    createWriteStream(partial, { mode: PRIVATE_FILE_MODE, flush: true }),
  )
  try {
    fill(archive, sample).catch((error: unknown) => archive.destroy(error as Error))
    await written
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function fill(archive: Pack, sample: SampleName): Promise<void> {
  const entries = [...(await ownFiles(sample)), ...(sample === 'server' ? await runtimeFiles() : [])]
  for (const { name, file, mode } of entries) {
    const { size } = await stat(file)
    // The same files make the same image.
    const entry = archive.entry({ name, size, mode, mtime: new Date(0) })
    await pipeline(createReadStream(file, { highWaterMark: PIECE_BYTES }), entry)
  }
  archive.finalize()
}

/** The files of the sample, which the build put next to the server's program. */
async function ownFiles(sample: SampleName): Promise<Entry[]> {
  const folder = join(dirname(process.argv[1]!), 'samples', sample)
  const names = (await readdir(folder)).toSorted()
  return names.map((name) => ({ name, file: join(folder, name), mode: FILE_MODE }))
}

/** Node and what it needs, at the paths where its loader looks for them. */
async function runtimeFiles(): Promise<Entry[]> {
  const hasCache = await access(LIBRARY_CACHE).then(
    () => true,
    () => false,
  )
  const libraries = [...loadedLibraries(), ...(hasCache ? [LIBRARY_CACHE] : [])]
  return [
    { name: `runtime/${NODE}`, file: OWN_NODE, mode: PROGRAM_MODE },
    ...libraries.map((file) => ({ name: `runtime${file}`, file, mode: PROGRAM_MODE })),
  ]
}

/** The shared libraries of this process, its loader among them, without the addons of packages. */
function loadedLibraries(): string[] {
  // Else it would look up the names of all connections' addresses.
  Object.assign(process.report, { excludeNetwork: true, excludeEnv: true })
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] }
  return sharedObjects.filter((path) => path.startsWith('/') && !path.endsWith('.node'))
}

import { tarOf } from './tar.ts'
import { MAX_ARCHIVE_BYTES } from './upload.ts'

/** A file of a chosen folder, with its path in the folder. */
export interface FolderFile {
  path: string
  file: File
}

export interface Folder {
  name: string
  files: FolderFile[]
}

/** What no build takes from the user's machine. */
const LEFT_OUT = new Set(['.git', 'node_modules'])

/** The folder of a file dialog (webkitdirectory), without what is left out; null when nothing remains. */
export function folderOf(chosen: Iterable<File>): Folder | null {
  const files = [...chosen].map((file) => ({ file, steps: file.webkitRelativePath.split('/') }))
  const name = files[0]?.steps[0]
  const kept = files.filter(({ steps }) => !steps.some((step) => LEFT_OUT.has(step)))
  if (name === undefined || kept.length === 0) return null
  return { name, files: kept.map(({ file, steps }) => ({ path: steps.slice(1).join('/'), file })) }
}

/** The folder that was dropped; null for anything else. Must be called before the event ends. */
export function droppedFolder(items: DataTransferItemList): Promise<Folder | null> | null {
  const [entry, ...others] = [...items].map((item) => item.webkitGetAsEntry())
  if (!entry?.isDirectory || others.length > 0) return null
  return filesBelow(entry as FileSystemDirectoryEntry, '').then((files) =>
    files.length > 0 ? { name: entry.name, files } : null,
  )
}

async function filesBelow(directory: FileSystemDirectoryEntry, above: string): Promise<FolderFile[]> {
  const found: FolderFile[] = []
  for (const entry of await entriesOf(directory)) {
    const path = above === '' ? entry.name : `${above}/${entry.name}`
    if (LEFT_OUT.has(entry.name)) continue
    if (entry.isDirectory) {
      for (const below of await filesBelow(entry as FileSystemDirectoryEntry, path)) found.push(below)
    } else {
      const file = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      )
      found.push({ path, file })
    }
  }
  return found
}

/** A directory reader returns some entries at a time, and none at the end. */
async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return all
    all.push(...some)
  }
}

/** Packs a folder in the format that the server accepts; throws when it is too large, or when a file cannot be read. */
export async function packFolder({ name, files }: Folder, signal: AbortSignal): Promise<File> {
  const sorted = files.toSorted((left, right) => (left.path < right.path ? -1 : 1))
  const pieces = tarOf(
    sorted.map(({ path, file }) => ({
      path,
      size: file.size,
      modifiedAt: file.lastModified / 1_000,
      stream: () => file.stream(),
    })),
  )
  const archive = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      signal.throwIfAborted()
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value as Uint8Array<ArrayBuffer>)
    },
  })
  const packed = archive.pipeThrough(new CompressionStream('gzip')).pipeThrough(limited(MAX_ARCHIVE_BYTES))
  return new File([await new Response(packed).blob()], `${name}.tar.gz`, { type: 'application/gzip' })
}

/** Fails when more than this many bytes pass. */
function limited(most: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let passed = 0
  return new TransformStream({
    transform(piece, controller) {
      passed += piece.length
      if (passed > most)
        controller.error(
          new Error('The folder is over 512 MiB when packed. Leave out what can be installed or built.'),
        )
      else controller.enqueue(piece)
    },
  })
}

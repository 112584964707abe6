import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { posix } from 'node:path'
import { finished, type Readable } from 'node:stream'
import { messageOf } from '#server/errors.ts'
import { FileSender } from './file-sender.ts'
import { TarReader, type TarEntry } from './tar-reader.ts'

/** The method of BuildKit's session with which the engine fetches a folder of its client. */
export const DIFF_COPY = '/moby.filesync.v1.FileSync/DiffCopy'

/** What the engine fetches for a build whose Dockerfile is not part of its context. */
export interface SeparateFiles {
  dockerfile: { path: string; content: string }
  /** The text of `.dockerignore`, if that is part of the context. */
  ignore: string | null
  /** A tar with all that is copied, in the order of a walk by the bytes of the names. It can be fetched once. */
  context: Readable
}

// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
const OK = 0
const NOT_FOUND = 5
const INTERNAL = 13

/** Those whose context has been requested. */
const contextsSent = new WeakSet<SeparateFiles>()

/**
 * Answers a request for a folder: `dockerfile` or `context` (BuildKit, session/filesync and its Dockerfile frontend). A build
 * request can only have both in one tar, in which `COPY` finds the Dockerfile whatever `.dockerignore` says.
 */
export function syncFiles(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  files: SeparateFiles | null,
): void {
  let status = OK
  let said = ''
  stream.on('error', () => {})
  stream.on('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': encodeURIComponent(said) }),
  )
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  const folder = headers['dir-name']
  if (files === null || (folder !== 'dockerfile' && folder !== 'context')) {
    status = NOT_FOUND
    stream.end()
    return
  }
  send(new FileSender(stream), folder, headers, files)
    .catch((error: unknown) => {
      status = INTERNAL
      said = messageOf(error)
    })
    .finally(() => stream.end())
}

async function send(
  sender: FileSender,
  folder: 'dockerfile' | 'context',
  headers: IncomingHttpHeaders,
  files: SeparateFiles,
): Promise<void> {
  if (folder === 'dockerfile') await sendText(sender, files.dockerfile)
  // BuildKit reads the patterns before it fetches the context; here they have been applied.
  else if (headers.followpaths === '.dockerignore')
    await sendText(sender, files.ignore === null ? null : { path: '.dockerignore', content: files.ignore })
  else await sendContext(sender, files)
  await sender.end()
}

async function sendText(sender: FileSender, file: { path: string; content: string } | null): Promise<void> {
  if (file === null) return
  // The engine requests no file that it has with the same time, so each answer has another.
  const common = { modifiedMs: performance.timeOrigin + performance.now(), link: '', size: 0 }
  const folders: string[] = []
  for (let path = posix.dirname(file.path); path !== '.'; path = posix.dirname(path)) folders.unshift(path)
  for (const name of folders) await sender.add({ ...common, name, type: 'directory', mode: 0o755 }, nothing)
  let left = Buffer.from(file.content)
  const entry: TarEntry = { ...common, name: file.path, type: 'file', mode: 0o644, size: left.length }
  await sender.add(entry, (most) => {
    if (left.length === 0) return null
    const piece = left.subarray(0, most)
    left = left.subarray(piece.length)
    return piece
  })
}

const nothing = (): null => null

async function sendContext(sender: FileSender, files: SeparateFiles): Promise<void> {
  if (contextsSent.has(files)) throw new Error('the engine requested the build context a second time')
  contextsSent.add(files)
  const { context } = files
  const tar = new TarReader()
  tar.on('error', () => {})
  sender.onClose(() => tar.destroy(new Error('the engine no longer reads the build context')))
  finished(context, { writable: false }, (error) => error && tar.destroy(error))
  context.pipe(tar)
  try {
    for (let entry; (entry = await tar.next()) !== null;) await sender.add(entry, (most) => tar.piece(most))
  } finally {
    tar.destroy()
  }
}

import { once } from 'node:events'
import { connect, createServer, type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { pack } from 'tar-stream'
import { expect, onTestFinished, test } from 'vitest'
import { DIFF_COPY, syncFiles, type SeparateFiles } from '#daemon/engine/file-sync.ts'
import { numberField, readFields } from '#daemon/engine/protobuf.ts'
import { waitFor } from '../support/wait.ts'

const [REQUEST, DATA, FINISHED] = [1, 2, 3]

/** What an engine got of a folder. */
interface Transfer {
  /** The names in order; null at their end. */
  names: (string | null)[]
  contents: Map<number, string>
  /** Files whose end was sent. */
  ended: number[]
  /** The status and its message, once the call has ended. */
  status: string | null
  request(id: number): void
  finish(): void
  cancel(): void
}

/** Fetches a folder as an engine does. */
type Fetch = (folder: string, followpaths?: string) => Transfer

async function engineOf(files: SeparateFiles | null): Promise<Fetch> {
  const server = createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers) => syncFiles(stream, headers, files))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  return (folder, followpaths) =>
    transferOf(
      client.request(
        { ':method': 'POST', ':path': DIFF_COPY, 'dir-name': folder, ...(followpaths && { followpaths }) },
        { endStream: false },
      ),
    )
}

function transferOf(stream: ClientHttp2Stream): Transfer {
  const send = (...fields: Buffer[]): void => {
    const message = Buffer.concat(fields)
    const header = Buffer.alloc(5)
    header.writeUInt32BE(message.length, 1)
    stream.write(Buffer.concat([header, message]))
  }
  const transfer: Transfer = {
    names: [],
    contents: new Map(),
    ended: [],
    status: null,
    request: (id) => send(numberField(1, REQUEST), numberField(3, id)),
    finish: () => send(numberField(1, FINISHED)),
    cancel: () => stream.close(),
  }
  let received = Buffer.alloc(0)
  stream.on('error', () => {})
  stream.on('trailers', (trailers) => {
    const message = decodeURIComponent(String(trailers['grpc-message']))
    transfer.status = `${String(trailers['grpc-status'])} ${message}`.trim()
  })
  stream.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
      const end = 5 + received.readUInt32BE(1)
      note(transfer, received.subarray(5, end))
      received = received.subarray(end)
    }
  })
  return transfer
}

function note(transfer: Transfer, message: Buffer): void {
  const fields = new Map([...readFields(message)].map(({ number, value }) => [number, value]))
  const id = Number(fields.get(3) ?? 0)
  const data = String(fields.get(4) ?? '')
  const described = fields.get(2) as Buffer | undefined
  if (described) transfer.names.push(String([...readFields(described)][0]!.value))
  else if (fields.get(1) === undefined) transfer.names.push(null)
  else if (fields.get(1) === DATA && data === '') transfer.ended.push(id)
  else if (fields.get(1) === DATA) transfer.contents.set(id, (transfer.contents.get(id) ?? '') + data)
}

function filesOf(context: Readable, more: Partial<SeparateFiles> = {}): SeparateFiles {
  context.on('error', () => {})
  return { dockerfile: { path: 'deploy/app', content: 'FROM x' }, ignore: null, context, ...more }
}

/** A tar that arrives in pieces of this size. */
function tarOf(files: Record<string, string>, pieceBytes = 10_000): Readable {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const bytes of tar as AsyncIterable<Buffer>)
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  return Readable.from(pieces(), { objectMode: false })
}

const LARGE = 'y'.repeat(200_001)
/** A name that needs a header of its own. */
const LONG = `${'d'.repeat(120)}ä`

test.each([1, 511, 10_000])(
  'files in pieces of %i bytes arrive in whatever order they are requested',
  async (size) => {
    const fetch = await engineOf(
      filesOf(tarOf({ a: 'x', b: '', c: LARGE.slice(0, 65_000), [LONG]: 'z' }, size)),
    )
    const transfer = fetch('context')
    await waitFor(() => transfer.names.at(-1) === null, 'all names')
    expect(transfer.names).toEqual(['a', 'b', 'c', LONG, null])
    for (const id of [3, 1, 0, 2]) transfer.request(id)
    await waitFor(() => transfer.ended.length === 4, 'all files')
    expect(transfer.ended).toEqual([3, 1, 0, 2])
    expect(Object.fromEntries(transfer.contents)).toEqual({ 0: 'x', 2: LARGE.slice(0, 65_000), 3: 'z' })
    transfer.finish()
    await waitFor(() => transfer.status !== null, 'the end')
    expect(transfer.status).toBe('0')
  },
)

test('a large file is read only when it is requested, and small ones up to 1 MiB before that', async () => {
  const small = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`${index + 10}`, LARGE.slice(0, 60_000)]),
  )
  const fetch = await engineOf(filesOf(tarOf({ ...small, last: LARGE })))
  const transfer = fetch('context')
  await waitFor(() => transfer.names.length === 18, 'the first names')
  await setTimeout(100)
  expect(transfer.names).toHaveLength(18)
  for (let id = 0; id < 51; id++) {
    await waitFor(() => transfer.names.length > id, 'the next name')
    expect(transfer.ended).not.toContain(id)
    transfer.request(id)
  }
  await waitFor(() => transfer.names.at(-1) === null && transfer.ended.length === 51, 'all files')
  expect(transfer.contents.get(50)).toBe(LARGE)
})

test('the Dockerfile comes with its folders, and any number of times', async () => {
  const fetch = await engineOf(filesOf(tarOf({})))
  for (let time = 0; time < 2; time++) {
    const transfer = fetch('dockerfile', 'deploy/app, deploy/app.dockerignore')
    await waitFor(() => transfer.names.at(-1) === null, 'all names')
    expect(transfer.names).toEqual(['deploy', 'deploy/app', null])
    transfer.request(1)
    await waitFor(() => transfer.ended.length === 1, 'the file')
    expect(transfer.contents.get(1)).toBe('FROM x')
  }
})

test.each([
  ['if the context has it', 'a pattern', ['.dockerignore', null]],
  ['unless the context lacks it', null, [null]],
])('the engine gets .dockerignore alone %s, and the context once', async (_title, ignore, names) => {
  const fetch = await engineOf(filesOf(tarOf({ a: '' }), { ignore }))
  const alone = fetch('context', '.dockerignore')
  await waitFor(() => alone.names.at(-1) === null, 'all names')
  expect(alone.names).toEqual(names)
  const whole = fetch('context')
  await waitFor(() => whole.names.at(-1) === null, 'all names')
  const again = fetch('context')
  await waitFor(() => again.status !== null, 'the refusal')
  expect(again.status).toBe('13 the engine requested the build context a second time')
})

test.each<[string, (tar: PassThrough) => void, string]>([
  ['is cut off', (tar) => tar.end(), '13 a tar is cut off'],
  ['fails', (tar) => tar.destroy(new Error('the disk is gone')), '13 the disk is gone'],
  ['is none', (tar) => tar.end('x'.repeat(600)), '13 a tar has an invalid header'],
])('a context that %s never passes as complete', async (_title, end, status) => {
  const tar = new PassThrough()
  const fetch = await engineOf(filesOf(tar))
  const transfer = fetch('context')
  end(tar)
  await waitFor(() => transfer.status !== null, 'the end')
  expect(transfer).toMatchObject({ status, names: [] })
})

test('a context is let go when the engine no longer reads it', async () => {
  const context = tarOf({ a: LARGE })
  const transfer = (await engineOf(filesOf(context)))('context')
  await waitFor(() => transfer.names.length === 1, 'the name')
  transfer.cancel()
  await waitFor(() => context.listenerCount('data') === 0, 'the context to be let go')
})

test.each([
  ['another folder', filesOf(tarOf({})), 'home'],
  ['a build without files', null, 'context'],
])('%s is not found', async (_title, files, folder) => {
  const transfer = (await engineOf(files))(folder)
  await waitFor(() => transfer.status !== null, 'the refusal')
  expect(transfer.status).toBe('5')
})

import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { ApiAnswer, TestServer } from '../support/server.ts'

type EntryHeader = Parameters<ReturnType<typeof pack>['entry']>[0]

/** The files of a source by their paths; values that are neither text nor bytes are written as JSON. */
export type Files = Record<string, string | Buffer | object>

/** What is sent, how it is requested, and what is found. */
export type Found = [what: string, files: Files, query: string, found: object]

/** A .tar.gz of these files, with entries of other kinds. */
export async function archiveOf(files: Files, links: EntryHeader[] = []): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) {
    const isBytes = typeof content === 'string' || Buffer.isBuffer(content)
    tar.entry({ name }, isBytes ? content : JSON.stringify(content))
  }
  for (const link of links) tar.entry(link)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

/** What a server says about these files. */
export async function detect(server: TestServer, files: Files, query = ''): Promise<ApiAnswer> {
  return await server.api('POST', `/detect${query}`, await archiveOf(files), {
    headers: { 'content-type': 'application/gzip' },
  })
}

/** A node program. */
export const EXPRESS = {
  'package.json': {
    scripts: { start: 'node server.js' },
    dependencies: { express: '5' },
    engines: { node: '22' },
  },
  'package-lock.json': { lockfileVersion: 3 },
  'server.js': '',
}

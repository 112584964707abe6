import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archiveOfManyEntries } from '../support/many-entries.ts'
import { isAlive, readersOf, residentBytes } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { endOf } from './live.ts'

/** How much more memory a server may use while another process reads: the request, and what is not collected yet. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024

/** Took minutes in an expression that tries every position of a run. */
const RUN = '\n'.repeat(1024 * 1024)

let server: TestServer
/** As many entries as an archive may have. */
let large: Buffer

beforeAll(async () => {
  ;[server, large] = await Promise.all([startServer({ engine: true }), archiveOfManyEntries(199_999)])
})
afterAll(() => server?.stop())

const checkouts = (): string[] => readdirSync(join(server.dataDirectory, 'checkouts'))

async function upload(name: string, archive: Buffer): Promise<string> {
  await server.api('POST', '/services', { name })
  const { status, body } = await server.api('POST', `/services/${name}/deploys/upload`, archive)
  expect({ status, body }).toMatchObject({ status: 202 })
  return body.id as string
}

/** Waits until the tree of a deploy is being laid out, and returns the processes that do it. */
function unpacking(id: string): Promise<number[]> {
  return waitFor(() => {
    const begun = readdirSync(join(server.dataDirectory, 'checkouts', id, 'tree')).length > 10
    return begun ? readersOf(server.pid) : undefined
  }, 'the archive to be unpacked')
}

describe('a source that takes long to read', () => {
  type End = (name: string, id: string) => ReturnType<TestServer['api']>
  const ends: [string, End, number][] = [
    ['deleted', (name) => server.api('DELETE', `/services/${name}`), 204],
  ]
  const furtherEnds: [string, End, number][] = [
    ['canceled', (_name, id) => server.api('POST', `/deploys/${id}/cancel`), 200],
  ]

  async function isLetGo(how: string, end: End, status: number): Promise<void> {
    const before = residentBytes(server.pid)
    const id = await upload(how, large)
    const readers = await unpacking(id)
    expect(readers).not.toEqual([])
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
    expect(residentBytes(server.pid) - before).toBeLessThan(MAX_GROWTH_BYTES)
    expect((await end(how, id)).status).toBe(status)
    await waitFor(() => !readers.some(isAlive), 'the processes to end')
    await waitFor(() => checkouts().length === 0, 'the files to be removed')
  }

  test.each(ends)('is released at once when it is %s, and nothing of it stays', isLetGo)
  test.each(furtherEnds)(
    'is released at once when it is %s too, and nothing of it stays',
    { tags: ['slow'] },
    isLetGo,
  )

  test(
    'ends as failed after two successive crashes while it was under way; a stop does not count',
    { tags: ['slow'] },
    async () => {
      const id = await upload('crashes', large)
      for (const signal of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
        const readers = await unpacking(id)
        await server.kill(signal)
        await waitFor(() => !readers.some(isAlive), 'the processes to end with the server')
        expect(server.logs).not.toContain('giving up on')
        await server.restart()
      }
      expect((await server.api('GET', `/deploys/${id}`)).body).toMatchObject({
        status: 'build_failed',
        error: expect.stringContaining('crashed twice'),
      })
      expect(checkouts()).toEqual([])
      const left = (): string[] => readdirSync(server.dataDirectory).filter((name) => name.endsWith('.left'))
      await waitFor(() => left().length === 0, 'what was left to be removed')
    },
  )

  test.each<[string, Record<string, string>, RegExp]>([
    ['a go.mod of newlines', { 'go.mod': RUN }, /there is no package main/],
    ['a requirements.txt of newlines', { 'requirements.txt': RUN }, /nothing says how to start/],
    ['a Gemfile and a Procfile of newlines', { Gemfile: RUN, Procfile: RUN }, /nothing says how to start/],
    ['a mix.exs of newlines', { 'mix.exs': RUN }, /mix.exs has no "app:"/],
    [
      'a long line in its .dockerignore',
      { Dockerfile: 'FROM busybox:1\n', '.dockerignore': 'a*'.repeat(512 * 1024 - 10) },
      /.dockerignore has a pattern of more than 1000 characters/,
    ],
  ])('is not affected by %s', { tags: ['slow'] }, async (what, files, error) => {
    const tar = pack()
    for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
    tar.finalize()
    const id = await upload(what.replaceAll(/[^a-z]+/g, '-'), gzipSync(await buffer(tar)))
    expect(await endOf(server, id)).toMatchObject({
      status: 'build_failed',
      error: expect.stringMatching(error),
    })
  })
})

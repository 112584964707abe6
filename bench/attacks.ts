// Measures sources that are made to slow down the server: its memory and response times while it reads them.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { archiveOfManyEntries } from '../test/support/many-entries.ts'
import { isAlive, readersOf, residentBytes } from '../test/support/processes.ts'
import type { TestServer } from '../test/support/server.ts'
import { formatMib, median, withServer } from './lib/stand.ts'

const EVERY_MS = 20
/** The max number of entries of an archive. */
const ENTRIES = 199_999
const RUN = '\n'.repeat(1024 * 1024)
const MANIFESTS = ['requirements.txt', 'go.mod', 'Gemfile', 'mix.exs']

let services = 0

await withServer(async (server) => {
  for (const name of MANIFESTS) {
    const files = { [name]: RUN, Procfile: ' '.repeat(1024 * 1024) }
    const archive = await archiveOf(files)
    await attack(server, `${name} of 1 MiB of newlines`, async () => {
      const id = await upload(server, archive)
      return await endOf(server, id)
    })
  }
  const ignoring = await archiveOf({
    Dockerfile: 'FROM busybox:1\n',
    '.dockerignore': 'a*'.repeat(512 * 1024 - 10),
  })
  await attack(server, '.dockerignore with a line of 1 MiB', async () =>
    endOf(server, await upload(server, ignoring)),
  )
  const many = await archiveOfManyEntries(ENTRIES)
  await attack(server, `${ENTRIES} entries, canceled while they are unpacked`, async () => {
    const id = await upload(server, many)
    const tree = join(server.dataDirectory, 'checkouts', id, 'tree')
    while (entriesOf(tree) < 100) await delay(EVERY_MS)
    const readers = readersOf(server.pid)
    const began = performance.now()
    await server.api('POST', `/deploys/${id}/cancel`)
    while (readers.some(isAlive)) await delay(1)
    return `the unpacking ended ${(performance.now() - began).toFixed(0)} ms after the cancel was sent`
  })
  await attack(server, `${ENTRIES} entries, unpacked`, async () => endOf(server, await upload(server, many)))
  const id = await upload(server, many)
  while (entriesOf(join(server.dataDirectory, 'checkouts', id, 'tree')) < 100) await delay(EVERY_MS)
  const began = performance.now()
  await server.kill('SIGTERM')
  console.log(`SIGTERM while unpacking: ended after ${(performance.now() - began).toFixed(0)} ms`)
  await server.restart()
})

/** Runs an attack and prints the server's memory and response times in the meantime. */
async function attack(server: TestServer, title: string, work: () => Promise<string>): Promise<void> {
  const before = residentBytes(server.pid)
  let [peak, readerPeak] = [before, 0]
  const times: number[] = []
  let isOver = false
  const watch = (async () => {
    while (!isOver) {
      const began = performance.now()
      await server.api('GET', '/services')
      times.push(performance.now() - began)
      peak = Math.max(peak, residentBytes(server.pid))
      for (const pid of readersOf(server.pid))
        if (isAlive(pid)) readerPeak = Math.max(readerPeak, residentBytes(pid))
      await delay(EVERY_MS)
    }
  })()
  const began = performance.now()
  const result = await work().finally(() => (isOver = true))
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  await watch
  console.log(`${title}: ${result.split('\n')[0]} (${seconds} s)`)
  console.log(
    `  GET /services median ${median(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms; server ${formatMib(before)} before, ${formatMib(peak)} at most; reader ${formatMib(readerPeak)} at most`,
  )
}

async function upload(server: TestServer, archive: Buffer): Promise<string> {
  const name = `attack-${++services}`
  await server.api('POST', '/services', { name })
  const { status, body } = await server.api('POST', `/services/${name}/deploys/upload`, archive)
  if (status !== 202) throw new Error(`the upload was answered ${status}`)
  return body.id as string
}

async function endOf(server: TestServer, id: string): Promise<string> {
  for (;;) {
    const { body } = await server.api('GET', `/deploys/${id}`)
    if (!['queued', 'building', 'deploying'].includes(body.status)) return `${body.status}: ${body.error}`
    await delay(EVERY_MS)
  }
}

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

function entriesOf(directory: string): number {
  try {
    return readdirSync(directory).length
  } catch {
    return 0
  }
}

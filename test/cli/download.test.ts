import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startClient, type Place } from './client.ts'

const ID = 'bak-0123456789abcdef0123'
const BYTES = randomBytes(300_000)
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const BACKUP = {
  id: ID,
  status: 'succeeded',
  size_bytes: BYTES.length,
  sha256: SHA256,
}

/** How far a download comes before its connection is cut; null is to the end. */
type Cuts = (number | null)[]

/** A server that has one backup, and cuts its downloads. Runs the work and returns the ranges that were asked for. */
async function withBackup(
  cuts: Cuts,
  work: (place: Place, folder: string) => Promise<void>,
  file: Buffer = BYTES,
): Promise<(string | undefined)[]> {
  const ranges: (string | undefined)[] = []
  const server = createServer((request, answer) => {
    if (!request.url!.includes('/download')) return void answer.end(JSON.stringify([BACKUP]))
    ranges.push(request.headers.range)
    sendPart(request, answer, file, cuts.shift() ?? null)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await work({ url, token: 'dpl_test' }, mkdtempSync(join(tmpdir(), 'deployer-download-')))
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return ranges
}

function sendPart(request: IncomingMessage, answer: ServerResponse, file: Buffer, cut: number | null): void {
  const { range } = request.headers
  const start = range === undefined ? 0 : Number(/^bytes=(\d+)-$/.exec(range)![1])
  if (range !== undefined) expect(request.headers['if-range']).toBe(`"${SHA256}"`)
  answer.writeHead(range === undefined ? 200 : 206, {
    'content-length': file.length - start,
    'content-disposition': 'attachment; filename="db-2026-01-02.dump"',
  })
  if (cut === null) return void answer.end(file.subarray(start))
  answer.write(file.subarray(start, cut), () => answer.destroy())
}

const download = (place: Place, cwd: string, ...words: string[]) =>
  startClient(place, ['db', 'download', 'db', ...words], { cwd }).ended

test.concurrent(
  'a download goes on where it was cut, and has the name that the server gives it',
  async () => {
    const ranges = await withBackup([100_000, 250_000, null], async (place, folder) => {
      expect(await download(place, folder)).toMatchObject({
        code: 0,
        out: `db-2026-01-02.dump has ${ID} of db, 293.0 KiB\n`,
      })
      const file = join(folder, 'db-2026-01-02.dump')
      expect(readFileSync(file)).toEqual(BYTES)
      expect([statSync(file).mode & 0o777, readdirSync(folder)]).toEqual([0o600, ['db-2026-01-02.dump']])
    })
    // What was on its way when the connection was cut is lost.
    const starts = ranges.map((range) => Number(/^bytes=(\d+)-$/.exec(range ?? 'bytes=0-')?.[1]))
    expect(starts).toEqual([0, expect.any(Number), expect.any(Number)])
    expect(starts[1]).toBeGreaterThan(0)
    expect(starts[2]).toBeGreaterThan(starts[1]!)
  },
)

test.concurrent('it also goes on with what an earlier run left', async () => {
  const ranges = await withBackup([], async (place, folder) => {
    writeFileSync(join(folder, `${ID}.partial`), BYTES.subarray(0, 70_000))
    expect(await download(place, folder, '-o', 'mine.dump')).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'mine.dump'))).toEqual(BYTES)
  })
  expect(ranges).toEqual(['bytes=70000-'])
})

test.concurrent('it goes to standard output whole', async () => {
  await withBackup([5_000, null], async (place, folder) => {
    const { code, out } = await download(place, folder, '-o', '-')
    expect([code, out]).toEqual([0, BYTES.toString('utf8')])
  })
})

test.concurrent('what differs from the checksum is not kept', async () => {
  const other = Buffer.from(BYTES)
  other[1_000]! ^= 1
  await withBackup(
    [],
    async (place, folder) => {
      expect(await download(place, folder, '-o', 'mine.dump')).toMatchObject({ code: 1, out: '' })
      expect(existsSync(join(folder, 'mine.dump'))).toBe(false)
      expect(readdirSync(folder)).toEqual([])
    },
    other,
  )
})

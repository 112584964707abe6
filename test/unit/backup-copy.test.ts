import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { provideBackup } from '#daemon/datastores/backup-check.ts'
import { openCopy } from '#server/backups/download.ts'
import { backupPath, withSealedFile } from '#server/backups/files.ts'
import { seal, unseal } from '#server/backups/sealing.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { useContext } from '#server/context.ts'
import { openContext } from '../support/context.ts'

const COPY = Buffer.concat([Buffer.from('REDIS0011'), Buffer.alloc(300_000, 'x')])

let folder: string
let close: () => Promise<void>
let bucket: Server
let backup: BackupRow
/** What the bucket answers. */
let answer: (response: ServerResponse) => void

beforeAll(async () => {
  const opened = await openContext()
  close = opened.close
  bucket = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  const url = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}/backups`
  const { options } = opened.context
  Object.assign(options, { backupBucket: { url, accessKeyId: 'a', secretAccessKey: 'b', region: 'c' } })
  folder = join(options.dataDirectory, 'backups')
  mkdirSync(folder, { recursive: true })
  backup = {
    id: 'bak-00000000000000000000',
    datastore_id: 'dbs-00000000000000000000',
    service_id: null,
    owner_id: 'dbs-00000000000000000000',
    disk: null,
    suspends: 0,
    encrypted: 0,
    sequence: 1,
    status: 'succeeded',
    trigger: 'manual',
    size_bytes: COPY.length,
    sha256: createHash('sha256').update(COPY).digest('hex'),
    object_url: `${url}/it`,
    error: null,
    created_at: 0,
    finished_at: 0,
    created_by: null,
  }
})
afterAll(async () => {
  bucket.closeAllConnections()
  bucket.close()
  await close()
})
afterEach(() => rmSync(backupPath(backup.id), { force: true }))

const provide = () => provideBackup('keyvalue', backup, AbortSignal.timeout(20_000))

test('the copy of a backup replaces its file, also from a store that reports no size', async () => {
  answer = (response) => void response.write(COPY.subarray(0, 9), () => response.end(COPY.subarray(9)))
  await provide()
  expect(readFileSync(backupPath(backup.id)).equals(COPY)).toBe(true)
  expect(readdirSync(folder)).toEqual([backup.id])
})

test.each<[string, (response: ServerResponse) => void, RegExp]>([
  [
    'that is shorter',
    (response) => response.end(COPY.subarray(0, 200_000)),
    /has 200000 bytes where 300009 were/,
  ],
  [
    'that is longer',
    (response) => response.end(Buffer.concat([COPY, COPY])),
    /has 600018 bytes where 300009 were/,
  ],
  [
    'that never ends',
    (response) => {
      const more = setInterval(() => response.write(Buffer.alloc(65_536, 'x')), 1)
      response.once('close', () => clearInterval(more))
    },
    /has 3\d{5} bytes where 300009 were/,
  ],
  [
    'that breaks off',
    (response) =>
      response
        .writeHead(200, { 'content-length': COPY.length })
        .write(COPY.subarray(0, 100_000), () => response.destroy()),
    /broke off after \d+ of 300009 bytes \(aborted\): restore again/,
  ],
  [
    'with other content',
    (response) => response.end(Buffer.from(COPY).fill('y', 9, 10)),
    /has a different checksum/,
  ],
])('a copy %s is reported as such, and nothing of it is kept', async (_, sends, said) => {
  answer = sends
  await expect(provide()).rejects.toMatchObject({ code: 'io_error', message: expect.stringMatching(said) })
  expect(existsSync(folder) && readdirSync(folder)).toEqual([])
})

test('a sealed copy is opened for a restore and, as a whole or in part, for a download', async () => {
  const passphrase = 'correct horse battery'
  const { options } = useContext()
  Object.assign(options, { backupPassphrase: passphrase })
  const sealed = await buffer(seal(Readable.from([COPY], { objectMode: false }), passphrase))
  backup.encrypted = 1
  answer = (response) => response.end(sealed)
  await provide()
  expect(readFileSync(backupPath(backup.id)).equals(COPY)).toBe(true)
  const part = await openCopy(backup, AbortSignal.timeout(20_000), { start: 7, end: 200_000 })
  expect((await buffer(part.stream)).equals(COPY.subarray(7, 200_000))).toBe(true)
  rmSync(backupPath(backup.id))
  answer = (response) => response.end(sealed.subarray(0, 200_000))
  await expect(provide()).rejects.toThrow('the sealed file is damaged or incomplete')
  Object.assign(options, { backupPassphrase: 'another horse altogether' })
  answer = (response) => response.end(sealed)
  await expect(provide()).rejects.toThrow('the passphrase is wrong')
  Object.assign(options, { backupPassphrase: null })
  await expect(provide()).rejects.toThrow('is sealed: start the server with the --backup-passphrase-file')
  expect(readdirSync(folder)).toEqual([])
  backup.encrypted = 0
})

test('a sealed file exists only while it is sent', async () => {
  const plain = Buffer.alloc(200_000, 'y')
  writeFileSync(backupPath(backup.id), plain)
  const signal = AbortSignal.timeout(20_000)
  await withSealedFile(backup.id, 'correct horse battery', signal, async ({ path, size, sha256 }) => {
    const sealed = readFileSync(path)
    expect([size, sha256]).toEqual([sealed.length, createHash('sha256').update(sealed).digest('hex')])
    const opened = unseal(Readable.from([sealed], { objectMode: false }), 'correct horse battery')
    expect((await buffer(opened)).equals(plain)).toBe(true)
  })
  expect(readdirSync(folder)).toEqual([backup.id])
})

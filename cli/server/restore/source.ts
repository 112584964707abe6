import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Bucket } from '#server/backups/bucket.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { isId } from '#server/ids.ts'
import type { BucketOptions } from '#server/options/bucket.ts'
import { SEALED_MAGIC } from '#server/backups/sealing.ts'

const PIECE_BYTES = 256 * 1024
const FOLDER = 'server/'
/** Of backups of the server; an environment of the name `server` has others there. */
const NAME = /^\d{4}-\d\d-\d\dT\d{6}Z-sbk-[0-9a-f]{20}\.tar\.gz(\.age)?$/

/** A backup to read, as often as needed. */
export interface BackupSource {
  /** What it is called in messages. */
  title: string
  open(): Promise<AsyncIterable<Buffer>>
}

/** The backup in a file. Throws `io_error` when it cannot be read. */
export async function fileSource(word: string): Promise<BackupSource> {
  const path = resolve(word)
  await open(path).then(
    (file) => file.close(),
    (cause: unknown) => {
      throw new AppError('io_error', `${word} cannot be read: ${messageOf(cause)}`, { cause })
    },
  )
  return {
    title: word,
    open: () =>
      Promise.resolve(createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>),
  }
}

/** The names of the server backups in a bucket, newest first. */
export async function backupsIn(options: BucketOptions | null): Promise<string[]> {
  const bucket = bucketOf(options)
  const names = await bucket.list(FOLDER, AbortSignal.timeout(60_000))
  return names
    .map((name) => name.slice(FOLDER.length))
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
}

/** The newest backup in a bucket, or the one with this id. Throws `not_found`. */
export async function bucketSource(options: BucketOptions | null, id: string | null): Promise<BackupSource> {
  if (id !== null && !isId('serverBackup', id))
    throw new AppError(
      'invalid_request',
      `${id} is not the id of a server backup: --from-bucket --list shows them`,
    )
  const bucket = bucketOf(options)
  const names = await backupsIn(options)
  const name = id === null ? names[0] : names.find((one) => one.includes(id))
  if (name === undefined)
    throw new AppError('not_found', `the bucket ${options!.url} has no ${id === null ? 'server backup' : id}`)
  const url = bucket.urlOf(`${FOLDER}${name}`)
  return {
    title: name,
    open: async () => (await bucket.get(url, new AbortController().signal)).stream as AsyncIterable<Buffer>,
  }
}

/** Whether a backup is sealed with a passphrase. */
export async function isSealedSource(source: BackupSource): Promise<boolean> {
  let head = Buffer.alloc(0)
  for await (const piece of await source.open()) {
    head = Buffer.concat([head, piece])
    if (head.length >= SEALED_MAGIC.length) break
  }
  return head.subarray(0, SEALED_MAGIC.length).equals(SEALED_MAGIC)
}

/** Calls back with a private folder that exists only meanwhile. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'deployer-restore-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function bucketOf(options: BucketOptions | null): Bucket {
  if (options === null)
    throw new AppError(
      'invalid_request',
      'name the bucket with --backup-s3-url, --backup-s3-key and --backup-s3-secret-file, or their variables',
    )
  return new Bucket(options)
}

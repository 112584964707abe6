import { createReadStream } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { seal } from '#server/backups/sealing.ts'
import { AppError } from '#server/errors.ts'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import { savedSettings } from '#server/options/saved-settings.ts'
import { serverBackupFolder } from '#server/server-backups/files.ts'
import { makeServerBackup, type Order } from '#server/server-backups/make.ts'
import { packSealed } from '#server/server-backups/pack.ts'
import type { ServerBackup, ServerBackupInput } from '#server/server-backups/schema.ts'
import { shownManifest } from '#server/server-backups/manifest.ts'
import { checkServerBackup } from '#server/server-backups/verify.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../call.ts'
import { optionsOf } from './own-flags.ts'
import { askPassphrase, givenPassphrase } from './passphrase.ts'
import { withLocalApi, type LocalApi } from './local-api.ts'
import { findServer, isMissing } from './running.ts'
import { isSealed } from '#server/server-backups/read.ts'

const POLL_MS = 500
const PIECE_BYTES = 256 * 1024
/** What `--without` and `--with` can name. */
const PARTS = ['datastores', 'disks', 'logs'] as const

/** `deployer backup`: backs the server up, whether it runs or not. */
export async function backup(call: Call): Promise<void> {
  const { dataDirectory } = optionsOf(call)
  const target = targetOf(call)
  const parts = partsOf(call)
  if (isMissing(join(dataDirectory, 'deployer.db')))
    throw new AppError('not_found', `no server has used ${dataDirectory} yet: pass its --data-dir`)
  const passphrase = givenPassphrase(call)
  const server = findServer(dataDirectory)
  if (!server) return backUpStopped(call, dataDirectory, target, parts, passphrase)
  const made = await withLocalApi(dataDirectory, server, (api) => backUpRunning(call, api, parts))
  if (made.error !== null) call.out.note(`warning: ${made.error}`)
  const path = join(serverBackupFolder(dataDirectory), made.id)
  if (target === null) return call.out.done(`${made.id} is at ${path}`, made)
  if (passphrase === null || made.encrypted) {
    if (target === '-') await pipeline(createReadStream(path, { highWaterMark: PIECE_BYTES }), process.stdout)
    else await keepAt(target, (part) => copyFile(path, part))
  } else await write(target, seal(createReadStream(path, { highWaterMark: PIECE_BYTES }), passphrase))
  report(call, target, made)
}

/** `deployer backup verify`: reads a backup to its end. */
export async function verify(call: Call): Promise<void> {
  const path = resolve(call.words[0]!)
  const passphrase = (await isSealed(path)) ? (givenPassphrase(call) ?? (await askPassphrase(call))) : null
  const manifest = await checkServerBackup(
    createReadStream(path, { highWaterMark: PIECE_BYTES }),
    passphrase,
    `${path}.db.part`,
  )
  const { host, created_at, version } = manifest
  call.out.done(
    `${call.words[0]} is sound: ${host} at ${created_at}, version ${version}`,
    shownManifest(manifest),
  )
}

function partsOf(call: Call): Required<ServerBackupInput> {
  const without = namesIn(call, 'without')
  const also = namesIn(call, 'with')
  return {
    datastores: !without.includes('datastores'),
    disks: also.includes('disks') && !without.includes('disks'),
    logs: !without.includes('logs'),
  }
}

function namesIn(call: Call, flag: string): string[] {
  const names = (call.text(flag) ?? '').split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !(PARTS as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new AppError('invalid_request', `--${flag} takes ${PARTS.join(', ')}, not ${unknown}`)
  return names
}

function targetOf(call: Call): string | null {
  const [target = null] = call.words
  if (target === '-' && process.stdout.isTTY)
    throw new AppError(
      'invalid_request',
      'a backup is not for a terminal: name a file, or redirect the output',
    )
  return target === null || target === '-' ? target : resolve(target)
}

/** Has the running server make a backup, and follows it. The interrupt key cancels it. */
export async function backUpRunning(
  call: Call,
  api: LocalApi,
  parts: ServerBackupInput,
): Promise<ServerBackup> {
  let made = await api<ServerBackup>('POST', '/server/backups', parts)
  const path = `/server/backups/${made.id}`
  const cancel = (): void => void api('POST', `${path}/cancel`).catch(() => {})
  process.once('SIGINT', cancel).once('SIGTERM', cancel)
  try {
    while (made.status === 'running' && made.sha256 === null) {
      await delay(POLL_MS)
      made = await api<ServerBackup>('GET', path)
      if (call.out.mayDraw) process.stderr.write(`\rbacking up: ${made.progress_percent} %`)
    }
  } finally {
    if (call.out.mayDraw) process.stderr.write('\r\u001b[K')
    process.off('SIGINT', cancel).off('SIGTERM', cancel)
  }
  if (made.status === 'canceled') throw new AppError('canceled', `the backup ${made.id} was canceled`)
  if (made.status === 'failed') throw new AppError('io_error', `the backup ${made.id} failed: ${made.error}`)
  return made
}

/** Backs up a server that does not run. Its datastores are in the backup as their newest backups are. */
async function backUpStopped(
  call: Call,
  dataDirectory: string,
  target: string | null,
  includes: Required<ServerBackupInput>,
  passphrase: string | null,
): Promise<void> {
  if (target === null)
    throw new AppError(
      'invalid_request',
      'the server does not run: name the file to write, or - for standard output',
    )
  if (includes.datastores)
    call.out.note(
      'The server does not run: of each datastore its newest backup is taken, and no new one is made.',
    )
  const settings = savedSettings(dataDirectory)
  const order: Order = {
    dataDirectory,
    databaseCopy: join(serverBackupFolder(dataDirectory), `stopped-${process.pid}.db`),
    includes,
    version: VERSION,
    settings: {},
    savedSettings: settings,
  }
  await makeServerBackup(order, (source) => write(target, packSealed(source, passphrase)))
  report(call, target, {})
}

async function write(target: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  if (target === '-') return pipeline(bytes, process.stdout)
  await keepAt(target, async (part) => {
    const file = await open(part, 'w', PRIVATE_FILE_MODE)
    try {
      for await (const piece of bytes) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
  })
}

/** Has a file written under another name first, so that one with this name is complete. */
async function keepAt(target: string, make: (part: string) => Promise<void>): Promise<void> {
  const part = `${target}.part`
  try {
    await make(part)
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

function report(call: Call, target: string, answer: unknown): void {
  if (target !== '-') call.out.done(`backed up to ${target}`, answer)
}

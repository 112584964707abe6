import { createReadStream, createWriteStream, readdirSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { useContext } from '../context.ts'
import { messageOf } from '../errors.ts'
import { PRIVATE_FILE_MODE } from '../files.ts'
import { ID_PATTERN } from '../ids.ts'
import { logger } from '../log.ts'
import { dayOf, listParts, type Part } from './parts.ts'
import { ServiceLog } from './store.ts'

const log = logger('logs')

/** The size of a part: how much is removed at once when a log is full, and how much a reader of a packed part holds. */
const MAX_PART_BYTES = 16 * 1024 * 1024
/** A log has at least this many parts, so that a full log loses only a fraction of itself. */
const MIN_PARTS = 4
const MEBIBYTE = 1024 * 1024
const DAY_MS = 86_400_000
/** The ending of a packed part that is not complete yet. */
const UNFINISHED = '.new'

const logs = new Map<string, ServiceLog>()
let tidying: Promise<void> = Promise.resolve()

/** The log of a service. */
export function serviceLog(id: string): ServiceLog {
  const known = logs.get(id)
  if (known) return known
  const maxPartBytes = Math.min(MAX_PART_BYTES, (useContext().options.logSizeMb * MEBIBYTE) / MIN_PARTS)
  const made = new ServiceLog(directoryOf(id), maxPartBytes, () => void tidyServiceLog(id))
  logs.set(id, made)
  return made
}

/** Removes the log of a deleted service and ends its followers. */
export async function removeServiceLog(id: string): Promise<void> {
  const known = serviceLog(id)
  logs.delete(id)
  await tidying
  await known.remove()
}

/** Writes all pending lines of all services, and closes the logs. */
export async function closeServiceLogs(): Promise<void> {
  await Promise.all([...logs.values()].map((each) => each.close()))
}

/**
 * For all services, packs closed parts and removes those that are too old or exceed the size limit. Removes the logs of
 * deleted services.
 */
export async function tidyServiceLogs(isService: (id: string) => boolean): Promise<void> {
  for (const id of idsWithLogs()) {
    if (isService(id)) await tidyServiceLog(id)
    else await removeServiceLog(id)
  }
}

/** Tidies one log at a time, because packing briefly uses a whole CPU core. */
function tidyServiceLog(id: string): Promise<void> {
  tidying = tidying
    .then(() => tidy(id))
    .catch((error: unknown) =>
      log.warn('a service log could not be tidied', { service: id, error: messageOf(error) }),
    )
  return tidying
}

async function tidy(id: string): Promise<void> {
  const own = serviceLog(id)
  if (own.openDay !== null && own.openDay !== dayOf(Date.now())) await own.closePart()
  await own.stored()
  await removeUnfinished(directoryOf(id))
  const closed = () => listParts(directoryOf(id)).filter(({ path }) => path !== own.openPart)
  for (const part of closed()) if (!part.isPacked) await pack(part)
  // The process was killed after packing, before it removed the unpacked file.
  for (const { path, isPacked } of closed())
    if (isPacked) await rm(path.replace(/\.gz$/, ''), { force: true })
  await removeOld(id, closed())
}

async function pack({ path }: Part): Promise<void> {
  const unfinished = `${path}.gz${UNFINISHED}`
  await pipeline(
    createReadStream(path),
    createGzip(),
    createWriteStream(unfinished, { mode: PRIVATE_FILE_MODE, flush: true }),
  )
  await rename(unfinished, `${path}.gz`)
  await rm(path, { force: true })
}

async function removeOld(id: string, closed: Part[]): Promise<void> {
  const { logRetentionMs, logSizeMb } = useContext().options
  const sizes = await Promise.all(listParts(directoryOf(id)).map(({ path }) => sizeOf(path)))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (const part of closed) {
    const isOld = Date.parse(part.day) + DAY_MS < Date.now() - logRetentionMs
    if (!isOld && bytes <= logSizeMb * MEBIBYTE) continue
    bytes -= await sizeOf(part.path)
    await rm(part.path, { force: true })
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}

async function removeUnfinished(directory: string): Promise<void> {
  const names = namesIn(directory).filter((name) => name.endsWith(UNFINISHED))
  for (const name of names) await rm(join(directory, name), { force: true })
}

function idsWithLogs(): string[] {
  return namesIn(rootDirectory()).filter((name) => ID_PATTERN.test(name))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function directoryOf(id: string): string {
  return join(rootDirectory(), id)
}

function rootDirectory(): string {
  return join(useContext().options.dataDirectory, 'logs', 'services')
}

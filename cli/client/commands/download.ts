import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import type { Api, Query } from '../api.ts'
import { bodyOf, writeOut } from '../body.ts'
import { sizeText } from '../figures.ts'
import { pathTo, qualifiedName, segment, targetOf } from '../target.ts'
import { LostConnection } from '../transport.ts'
import { withApi } from '../with-api.ts'
import { OF_DATASTORES, type BackupRow, type Place } from './backups.ts'

const STANDARD_OUTPUT = '-'
const FILE_MODE = 0o600
/** Pauses before a download goes on after a lost connection; they begin again with each byte that came. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000]
const FILE_NAME = /filename="([^"]+)"/

/** Where a download goes. */
interface Sink {
  write: (bytes: Buffer) => Promise<void>
}

/** Downloads a backup of a datastore, the newest one unless one is named, and compares its checksum. */
export function download(call: Call): Promise<void> {
  return downloadBackup(call, OF_DATASTORES)
}

/** Downloads a backup of a datastore or of a service's disk. */
export async function downloadBackup(call: Call, place: Place): Promise<void> {
  const { out } = call
  const given = call.text('output')
  if (given === STANDARD_OUTPUT && out.isTerminal)
    throw wrong('standard output is a terminal; name a file with --output, or redirect it')
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const backups = pathTo(place.resource, target, place.path)
    const query = { environment: target.environment }
    const backup = await wantedBackup(call, api, { path: backups, command: place.command }, query)
    const file = new Download(api, `${backups}/${segment(backup.id)}/download`, query, backup)
    if (given === STANDARD_OUTPUT) return file.writeTo({ write: writeOut })
    const name = await file.saveAs(given)
    out.done(
      `${name} has ${backup.id} of ${qualifiedName(target)}, ${sizeText(backup.size_bytes ?? 0)}`,
      backup,
    )
  })
}

/** Throws Fault if there is none, or if it has no file. */
async function wantedBackup(
  call: Call,
  api: Api,
  { path, command }: Pick<Place, 'path' | 'command'>,
  query: Query,
): Promise<BackupRow> {
  const id = call.words[1]
  const found =
    id === undefined
      ? (await api.get<BackupRow[]>(path, query)).find(({ sha256 }) => sha256 !== null)
      : await api.get<BackupRow>(`${path}/${segment(id)}`, query)
  if (found === undefined)
    throw new Fault(EXIT.notFound, `there is no backup yet; deployer ${command} ${call.words[0]} makes one`)
  if (found.sha256 === null) throw new Fault(EXIT.conflict, `${found.id} is ${found.status}: it has no file`)
  return found
}

/** A download that goes on where it was cut. */
class Download {
  readonly #api: Api
  readonly #path: string
  readonly #query: Query
  readonly #backup: BackupRow
  #size = 0
  #hash: Hash = createHash('sha256')
  /** The file name that the server gives it. */
  #name: string | null = null

  constructor(api: Api, path: string, query: Query, backup: BackupRow) {
    this.#api = api
    this.#path = path
    this.#query = query
    this.#backup = backup
  }

  /** Downloads to a file next to its place, which only a whole one takes. Returns its name. */
  async saveAs(given: string | null): Promise<string> {
    const partial = join(given === null ? '.' : dirname(given), `${this.#backup.id}.partial`)
    const file = await openPartial(partial)
    try {
      await this.#takeUp(partial)
      await this.writeTo({ write: (bytes) => writeAll(file, bytes) })
      await file.sync()
    } catch (error) {
      // What differs from the backup is of no use for another try.
      if (error instanceof DifferentFile) await rm(partial, { force: true })
      throw error
    } finally {
      await file.close()
    }
    const name = given ?? basename(this.#name ?? `${this.#backup.id}.backup`)
    await rename(partial, name)
    return name
  }

  /** Counts what an earlier run left. */
  async #takeUp(partial: string): Promise<void> {
    for await (const bytes of createReadStream(partial) as AsyncIterable<Buffer>) this.#count(bytes)
  }

  /** Downloads what is missing. Throws Fault if the connection does not come back, or the bytes are not the backup's. */
  async writeTo(sink: Sink): Promise<void> {
    for (let failures = 0; this.#size < (this.#backup.size_bytes ?? 0);) {
      const before = this.#size
      try {
        await this.#rest(sink)
      } catch (error) {
        if (!(error instanceof LostConnection)) throw error
        failures = this.#size > before ? 0 : failures + 1
        const pauseMs = PAUSES_MS[failures]
        if (pauseMs === undefined)
          throw new Fault(EXIT.noConnection, `${error.message}; run it again to go on`, { cause: error })
        await delay(pauseMs)
      }
    }
    const isWhole = this.#size === this.#backup.size_bytes && this.#hash.digest('hex') === this.#backup.sha256
    if (!isWhole)
      throw new DifferentFile(EXIT.failed, `what came differs from the checksum of ${this.#backup.id}`)
  }

  async #rest(sink: Sink): Promise<void> {
    const isContinued = this.#size > 0
    const answer = await this.#api.raw({
      method: 'GET',
      path: this.#path,
      query: this.#query,
      headers: isContinued ? { range: `bytes=${this.#size}-`, 'if-range': `"${this.#backup.sha256}"` } : {},
    })
    const wanted = isContinued ? 206 : 200
    if (answer.statusCode !== wanted) {
      if (answer.statusCode !== 200) throw await this.#api.faultOf(answer)
      answer.destroy()
      throw new DifferentFile(EXIT.failed, `${this.#backup.id} is another file now; run it again`)
    }
    this.#name ??= FILE_NAME.exec(answer.headers['content-disposition'] ?? '')?.[1] ?? null
    for await (const bytes of bodyOf(answer)) {
      await sink.write(bytes)
      this.#count(bytes)
    }
  }

  #count(bytes: Buffer): void {
    this.#size += bytes.length
    this.#hash.update(bytes)
  }
}

/** What came is not the backup. */
class DifferentFile extends Fault {}

async function openPartial(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'a', FILE_MODE)
  } catch (cause) {
    throw new Fault(EXIT.failed, `${file} cannot be written: ${(cause as Error).message}`, { cause })
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten
}

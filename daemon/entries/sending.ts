import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'
import { PROGRAM_COMMAND, SENT_END } from '#agent/protocol.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import { entryName } from './container.ts'

/** Another machine may say anything. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024

const SMALL_BYTES = 64 * 1024

/** Something that is sent: a text, or what is at a path of this server, a file or a folder. */
export type Parcel = { to: string } & ({ text: string } | { path: string })

/**
 * Puts parcels into an entry, at paths of two names below its folder: all of them, or none if it throws. They are not held in
 * memory. Returns the names of all copies that are there then. Throws `runtime_error`, or the signal's reason.
 *
 * Not the engine's own way to copy, which holds what it knows of a container for as long as that takes: nothing could be
 * started in it, and it would tell no figures of any container.
 */
export async function send(
  engine: Engine,
  parcels: readonly Parcel[],
  signal: AbortSignal,
): Promise<string[]> {
  return namesOf(await run(engine, [...PROGRAM_COMMAND, 'receive'], signal, packed(parcels)))
}

/** Not by a schema, which would name each of the millions that may be wrong. */
function namesOf(text: string): string[] {
  const names: unknown = JSON.parse(text)
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw new AppError('runtime_error', 'the entry did not tell what it has')
}

/** The parcels as the tar stream that an entry takes. */
export function packed(parcels: readonly Parcel[]): Readable {
  const archive = pack()
  const source = Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
  packAll(archive, parcels).catch((error: Error) => source.destroy(error))
  return source
}

/**
 * Runs a program in an entry and returns what it prints. Throws `runtime_error` when that ends with another code than 0, or the
 * signal's reason.
 */
export async function run(
  { programs }: Engine,
  command: string[],
  signal: AbortSignal,
  input: AsyncIterable<Buffer> = Readable.from([]),
): Promise<string> {
  const program = await programs.start(entryName(), { command, env: {} }, signal)
  const { streams } = program
  try {
    const pieces: Buffer[] = []
    let bytes = 0
    const read = async (): Promise<void> => {
      for await (const piece of streams.output()) {
        pieces.push(piece)
        if ((bytes += piece.length) > MAX_OUTPUT_BYTES) throw new Error('the entry says too much')
      }
    }
    await Promise.all([read(), streams.input(input)])
    const exitCode = await program.end()
    if (exitCode === 0) return Buffer.concat(pieces).toString()
    throw new AppError(
      'runtime_error',
      `${command.at(-1)} in the entry ended with ${exitCode}: ${streams.errors}`,
    )
  } finally {
    streams.close()
  }
}

async function packAll(archive: Pack, parcels: readonly Parcel[]): Promise<void> {
  for (const parcel of parcels) {
    if ('text' in parcel) archive.entry({ name: parcel.to }, parcel.text)
    else await packPath(archive, parcel.path, parcel.to)
  }
  archive.entry({ name: SENT_END }, '')
  archive.finalize()
}

async function packPath(archive: Pack, path: string, name: string): Promise<void> {
  const facts = await stat(path)
  const { mtime, size } = facts
  if (!facts.isDirectory()) {
    // A stream of its own costs more than reading a small file.
    if (size <= SMALL_BYTES) await finished(archive.entry({ name, size, mtime }).end(await readFile(path)))
    else await pipeline(createReadStream(path), archive.entry({ name, size, mtime }))
    return
  }
  archive.entry({ name, type: 'directory', mtime })
  for (const child of await readdir(path)) await packPath(archive, join(path, child), `${name}/${child}`)
}

import { stat } from 'node:fs/promises'
import { ENTRY_FILES, ENTRY_SETTINGS, type EntrySettings } from '#agent/protocol.ts'
import { Slots } from '#server/work/slots.ts'
import type { RouteTable } from '#proxy/protocol.ts'
import type { Engine } from '../engine/index.ts'
import type { Program } from '../proxy/launch.ts'
import { copyAt, nameOfFile, withCopies, type Copied } from './paths.ts'
import { run, send, type Parcel } from './sending.ts'

/** A worker that has not taken the last table yet, or ends, may still read what is in no table any more. */
const KEPT_MS = 3_600_000
/** The most that one call removes: all are arguments of one program. */
const MAX_REMOVED = 500

/** The files of this server that a node's entry has by value, each of which is brought to it once. */
export class EntryFiles {
  readonly #engine: () => Engine
  readonly #dataDirectory: string
  /** When each copy in the entry was last of use, by its name; null if that must be asked again. */
  #copies: Map<string, number> | null = null
  /** The last settings that were sent. */
  #settings: string | null = null
  /** The program that these name, and what the last table names. */
  #program: string | null = null
  #named: ReadonlySet<string> | null = null
  readonly #turn = new Slots(1)
  /** Of folders, which may be large: tables that name no new one do not wait for them. */
  readonly #folders = new Slots(1)

  constructor(engine: () => Engine, dataDirectory: string) {
    this.#engine = engine
    this.#dataDirectory = dataDirectory
  }

  /**
   * Brings what a table names to the entry, unless it is there, and returns the table with the paths in the entry: what is
   * missing here is missing there too. Throws `runtime_error`, or the signal's reason.
   */
  async deliver(table: RouteTable, signal: AbortSignal): Promise<RouteTable> {
    const wanted = withCopies(table, this.#dataDirectory)
    const folders = await this.#turn.run(async () => {
      const copies = await this.#known(signal)
      const isMissing = ({ name }: Copied): boolean => !copies.has(name)
      await this.#bring(wanted.files.filter(isMissing), signal)
      this.#named = new Set([...wanted.files, ...wanted.folders].map(({ name }) => name))
      return wanted.folders.filter(isMissing)
    }, signal)
    if (folders.length > 0) await this.#folders.run(() => this.#bringEach(folders, signal), signal)
    return wanted.table
  }

  /** Brings a data plane's program and has the entry keep it running. Returns the program there. Throws like `deliver`. */
  bringProgram(
    program: Program,
    terms: Omit<EntrySettings, 'program' | 'version'>,
    signal: AbortSignal,
  ): Promise<Program> {
    return this.#turn.run(async () => {
      const name = nameOfFile(this.#dataDirectory, program.file)
      const there = { file: copyAt(name), version: program.version }
      const settings = JSON.stringify({ ...terms, program: there.file, version: there.version })
      const copies = await this.#known(signal)
      const parcels: Parcel[] = []
      if (!copies.has(name)) parcels.push({ path: program.file, to: `${ENTRY_FILES}/${name}` })
      if (this.#settings !== settings) parcels.push({ text: settings, to: ENTRY_SETTINGS })
      if (parcels.length > 0) await send(this.#engine(), parcels, signal)
      copies.set(name, Date.now())
      this.#settings = settings
      this.#program = name
      return there
    }, signal)
  }

  /** Asks the entry again what it has, at the next use: it may be another one. */
  forget(): void {
    this.#copies = null
    this.#settings = null
  }

  /** Removes copies that have been of no use for a while. Does nothing before the first table. Throws like `deliver`. */
  sweep(signal: AbortSignal): Promise<void> {
    return this.#turn.run(async () => {
      if (this.#program === null || this.#named === null) return
      const now = Date.now()
      const copies = await this.#known(signal)
      for (const name of [...this.#named, this.#program]) if (copies.has(name)) copies.set(name, now)
      const removed = [...copies].filter(([, usedAt]) => now - usedAt > KEPT_MS).slice(0, MAX_REMOVED)
      if (removed.length === 0) return
      // If it fails, what it has left is asked again.
      this.#copies = null
      const paths = removed.map(([name]) => copyAt(name))
      await run(this.#engine(), ['rm', '-rf', '--', ...paths], signal)
      for (const [name] of removed) copies.delete(name)
      this.#copies = copies
    }, signal)
  }

  async #known(signal: AbortSignal): Promise<Map<string, number>> {
    if (this.#copies) return this.#copies
    const names = await send(this.#engine(), [], signal)
    return (this.#copies = new Map(names.map((name) => [name, Date.now()])))
  }

  /** One by one, so that none is brought again because the next one was cut. */
  async #bringEach(folders: readonly Copied[], signal: AbortSignal): Promise<void> {
    for (const folder of folders) if (!this.#copies?.has(folder.name)) await this.#bring([folder], signal)
  }

  async #bring(copied: readonly Copied[], signal: AbortSignal): Promise<void> {
    const present: Copied[] = []
    for (const one of copied) if (await stat(one.path).catch(() => null)) present.push(one)
    if (present.length === 0) return
    await send(
      this.#engine(),
      present.map(({ path, name }) => ({ path, to: `${ENTRY_FILES}/${name}` })),
      signal,
    )
    for (const { name } of present) this.#copies?.set(name, Date.now())
  }
}

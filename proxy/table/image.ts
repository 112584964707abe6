import {
  type RouteTable,
  SECTIONS,
  type Section,
  type TablePart,
  type TableSettings,
  type Target,
} from '../protocol.ts'
import { fail } from './checks.ts'
import { MessageWriter } from './message.ts'
import { TableReader } from './reader.ts'
import { sectionMaps } from './sections.ts'
import { MAX_ENTRIES, validateEntries } from './validation.ts'

/** A table or changes to one, as read: each entry is valid by itself. */
export interface TableText {
  base: boolean
  parts: TablePart[]
  settings: TableSettings
  /** The messages as they came. */
  messages: string[]
}

/** Entries by name, as messages give them. */
type Entries = Record<Section, ReadonlyMap<string, unknown>>

/** A whole table. It never changes: changes create another one. */
export class TableImage {
  readonly settings: TableSettings
  readonly #entries: Entries

  private constructor(entries: Entries, settings: TableSettings) {
    this.#entries = entries
    this.settings = settings
  }

  /** Returns a reader of tables and changes. */
  static reader(): TableReader<TableText> {
    return new TableReader((base) => {
      const parts: TablePart[] = []
      const messages: string[] = []
      return {
        add(entries, text) {
          parts.push(validateEntries(entries))
          messages.push(text)
        },
        end: (settings) => ({ base, parts, settings, messages }),
      }
    })
  }

  /** Reads the table from messages that give one and its changes. Throws the first fault. */
  static read(messages: Iterable<string>): TableImage {
    const reader = TableImage.reader()
    let image: TableImage | null = null
    for (const message of messages) {
      const text = reader.read(JSON.parse(message) as object, message)
      if (text) image = TableImage.after(image, text)
    }
    return image ?? fail('table', 'ends before its last part')
  }

  /** Returns the table from a whole one, or from changes to `before`. Throws `ChannelError` `invalid_table`. */
  static after(before: TableImage | null, { base, parts, settings }: TableText): TableImage {
    const all: Entries = base && before ? { ...before.#entries } : sectionMaps()
    let gone = false
    for (const section of SECTIONS) {
      const changes = parts.filter((part) => part[section])
      if (changes.length === 0) continue
      const entries = new Map(all[section])
      for (const part of changes) {
        for (const entry of part[section]!) {
          if (entry[1] === null) gone = entries.delete(entry[0]) || gone
          else entries.set(entry[0], entry[1])
        }
      }
      if (entries.size > MAX_ENTRIES[section])
        fail(section, `must have at most ${MAX_ENTRIES[section]} entries`)
      all[section] = entries
    }
    if (gone) checkHosts(all.hosts as ReadonlyMap<string, string>, all.targets)
    else for (const { hosts } of parts) checkHosts(hosts ?? [], all.targets)
    return new TableImage(all, settings)
  }

  /** The table as an object. */
  get table(): RouteTable {
    const sections = SECTIONS.map((section) => [section, Object.fromEntries(this.#entries[section])])
    const texts = this.#entries.targets as ReadonlyMap<string, string>
    const targets = Object.fromEntries([...texts].map(([key, text]) => [key, JSON.parse(text) as Target]))
    return { ...this.settings, ...Object.fromEntries(sections), targets } as RouteTable
  }

  /** Yields messages that give the whole table. */
  *messages(): Generator<string> {
    const writer = new MessageWriter(false)
    for (const section of SECTIONS) {
      for (const [name, value] of this.#entries[section]) {
        const message = writer.add(section, name, JSON.stringify(value))
        if (message) yield message
      }
    }
    yield writer.end(JSON.stringify(this.settings))
  }
}

function checkHosts(
  hosts: Iterable<[host: string, target: string | null]>,
  targets: ReadonlyMap<string, unknown>,
): void {
  for (const [host, target] of hosts) {
    if (target !== null && !targets.has(target)) fail(`hosts.${host}`, 'must name a target')
  }
}

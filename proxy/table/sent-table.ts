import { type RouteTable, SECTIONS } from '../protocol.ts'
import { MessageWriter } from './message.ts'
import { sectionMaps } from './sections.ts'

/** The table that was sent last, as the JSON of its entries, to find out what changed in the next one. */
export class SentTable {
  readonly #texts = sectionMaps<string>()
  #empty = true;

  /** Replaces it by `table`; yields messages with the changes or, if there was no table before, with all of it. */
  *become(table: RouteTable): Generator<string> {
    const writer = new MessageWriter(!this.#empty)
    for (const section of SECTIONS) {
      const texts = this.#texts[section]
      // A table saved by an older program may lack a section.
      const entries = table[section] ?? {}
      let count = 0
      for (const name in entries) {
        count++
        const text = JSON.stringify(entries[name])
        if (texts.get(name) === text) continue
        texts.set(name, text)
        const message = writer.add(section, name, section === 'targets' ? JSON.stringify(text) : text)
        if (message) yield message
      }
      if (texts.size === count) continue
      for (const name of texts.keys()) {
        if (Object.hasOwn(entries, name)) continue
        texts.delete(name)
        const message = writer.add(section, name, null)
        if (message) yield message
      }
    }
    const settings: Partial<RouteTable> = { ...table }
    for (const section of SECTIONS) delete settings[section]
    this.#empty = false
    yield writer.end(JSON.stringify(settings))
  }
}

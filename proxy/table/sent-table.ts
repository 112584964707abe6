import { type RouteTable, SECTIONS } from '../protocol.ts'
import { MessageWriter } from './message.ts'
import { sectionMaps } from './sections.ts'

/** The table that was sent last, as the JSON of its entries, by which the next one is told apart. */
export class SentTable {
  readonly #texts = sectionMaps<string>()
  #empty = true;

  /** Becomes `table`; gives the messages for whoever has the one before, or for anyone when there was none. */
  *become(table: RouteTable): Generator<string> {
    const writer = new MessageWriter(!this.#empty)
    for (const section of SECTIONS) {
      const texts = this.#texts[section]
      // A table that an older program kept has not all of them.
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

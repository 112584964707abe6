import { appendFileSync, readFileSync } from 'node:fs'
import { log } from '../log.ts'
import { TableImage } from '../table/image.ts'
import { writeAtomically } from './files.ts'
import type { ServedTable } from './served-table.ts'

/** Changes that a file has before it is written anew: at the next quiet moment, and at once. */
const TIDY_CHARACTERS = 4 * 1024 * 1024
const MAX_CHANGES_CHARACTERS = 256 * 1024 * 1024

/**
 * The table in use, for a supervisor that starts when no control plane is there. The file has a whole table and the
 * changes since, so that a small change of a large table is a small write.
 */
export class TableFile {
  readonly #file: string
  /** The table that the file has. */
  #saved: TableImage | null = null
  #changesCharacters = 0

  constructor(file: string) {
    this.#file = file
  }

  save(table: ServedTable): void {
    const changes = this.#saved && table.changesTo(this.#saved)
    const text = changes?.map((message) => `\n${message}`).join('')
    this.#saved = null
    if (text === undefined || this.#changesCharacters + text.length > MAX_CHANGES_CHARACTERS)
      return this.#write(table)
    appendFileSync(this.#file, text)
    this.#changesCharacters += text.length
    this.#saved = table.image
  }

  /** Writes the file anew when it has many changes: call when nobody waits. `table` is the one in force. */
  tidy(table: ServedTable): void {
    if (this.#changesCharacters > TIDY_CHARACTERS) this.#write(table)
  }

  #write(table: ServedTable): void {
    writeAtomically(this.#file, table.messages.join('\n'))
    this.#changesCharacters = 0
    this.#saved = table.image
  }

  /** The table; null when there is none. Throws what is wrong with the file. */
  load(): TableImage | null {
    let text: string
    try {
      text = readFileSync(this.#file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
    return TableImage.read(this.#messages(text))
  }

  *#messages(text: string): Generator<string> {
    for (const line of text.split('\n')) {
      // A supervisor was killed while it wrote: what it had not finished was not answered either.
      if (!line.endsWith('}')) return log('warn', 'the saved table ends before its last change')
      yield line
    }
  }
}

import { appendFileSync, readFileSync } from 'node:fs'
import { log } from '../log.ts'
import { TableImage } from '../table/image.ts'
import { writeAtomically } from './files.ts'
import type { ServedTable } from './served-table.ts'

/** Size of the changes in a file after which it is rewritten: at the next quiet moment, or at once. */
const TIDY_CHARACTERS = 4 * 1024 * 1024
const MAX_CHANGES_CHARACTERS = 256 * 1024 * 1024

/**
 * The table in use, for a supervisor that starts without a control plane. The file has a whole table and the changes since
 * then, so that a small change of a large table is a small write.
 */
export class TableFile {
  readonly #file: string
  /** The table in the file. */
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

  /** Rewrites the file if it has many changes; call it when nothing waits. `table` is the one in force. */
  tidy(table: ServedTable): void {
    if (this.#changesCharacters > TIDY_CHARACTERS) this.#write(table)
  }

  #write(table: ServedTable): void {
    writeAtomically(this.#file, table.messages.join('\n'))
    this.#changesCharacters = 0
    this.#saved = table.image
  }

  /** Returns the table; null if there is none. Throws what is wrong with the file. */
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
      // A supervisor was killed while it wrote. It had not confirmed what is incomplete.
      if (!line.endsWith('}'))
        return log('warn', 'the last change of the saved table is incomplete and is ignored')
      yield line
    }
  }
}

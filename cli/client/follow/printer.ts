import type { ServiceLogLine } from '#server/logs/schema.ts'
import type { Output } from '../../output.ts'
import type { Sink } from './sink.ts'

/** Prints the lines of a log to standard output: as text, or each as JSON. What came together is written at once. */
export class Printer<T> implements Sink<T> {
  readonly #out: Output
  readonly #textOf: (line: T) => string
  #text = ''

  constructor(out: Output, textOf: (line: T) => string) {
    this.#out = out
    this.#textOf = textOf
  }

  line(line: T): void {
    this.#add(this.#out.isJson ? JSON.stringify(line) : this.#textOf(line))
  }

  /** Prints a line that is not of the log. */
  note(text: string): void {
    this.#add(text)
  }

  skipped(count: number | null): void {
    if (this.#out.isJson) this.#add(JSON.stringify({ skipped: count }))
    else if (count === null)
      this.#out.note('deployer: lines may be missing here; the server has more than it sends at once')
    else this.#out.note(`deployer: ${count} lines are missing here; they came faster than they were read`)
  }

  flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#out.text(text)
    return this.#out.room()
  }

  #add(text: string): void {
    this.#text += `${text}\n`
  }
}

/** Prints lines of a deploy, a job, a datastore or services as they came; those of several with the name of theirs. */
export function linePrinter(out: Output, { hasTimes }: { hasTimes: boolean }): Printer<ServiceLogLine> {
  return new Printer(out, ({ ts, stream, line, service }) => {
    const text = out.cleaned(line)
    const shown = stream === 'system' ? out.color('dim', text) : text
    const named = service === undefined ? shown : `${out.color('cyan', service)} | ${shown}`
    return hasTimes ? `${out.color('dim', ts)} ${named}` : named
  })
}

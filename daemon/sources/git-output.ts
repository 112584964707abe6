/** More output than this is an attack: the refs of the largest public repositories have about 10 MiB. */
const MAX_OUTPUT_CHARACTERS = 32 * 1024 * 1024
/** git writes names of any length that its objects have; files have at most 255 bytes, paths 4,096 (limits.h). */
const MAX_LINE_CHARACTERS = 64 * 1024

/** Collects or passes on the output of git, which arrives in pieces. */
export interface GitOutput {
  /** Throws TooMuchOutput. */
  feed(text: string): void
  /** Ends the output; returns what was collected. */
  finish(): string
}

/** Says what there is too much of; the message follows the URL of the repository. */
export class TooMuchOutput extends Error {
  override readonly name = 'TooMuchOutput'
}

/** Collects all output. */
export class WholeOutput implements GitOutput {
  #text = ''

  feed(text: string): void {
    this.#text += text
    if (this.#text.length > MAX_OUTPUT_CHARACTERS)
      throw new TooMuchOutput(`git writes more than ${MAX_OUTPUT_CHARACTERS / 1024 ** 2} MiB about it`)
  }

  finish(): string {
    return this.#text
  }
}

/** Receives output line by line; with `-z`, git ends lines with NUL. */
export interface LineReader {
  onLine: (line: string) => void
  end: '\n' | '\0'
}

/** Passes output on line by line, and collects nothing. */
export class OutputLines implements GitOutput {
  readonly #reader: LineReader
  #rest = ''

  constructor(reader: LineReader) {
    this.#reader = reader
  }

  feed(text: string): void {
    const lines = (this.#rest + text).split(this.#reader.end)
    this.#rest = lines.pop()!
    for (const line of lines) this.#give(line)
    refuseLong(this.#rest)
  }

  finish(): string {
    if (this.#rest !== '') this.#give(this.#rest)
    return ''
  }

  #give(line: string): void {
    refuseLong(line)
    this.#reader.onLine(line)
  }
}

function refuseLong(line: string): void {
  if (line.length > MAX_LINE_CHARACTERS)
    throw new TooMuchOutput(`a name in it has more than ${MAX_LINE_CHARACTERS / 1024} KiB`)
}

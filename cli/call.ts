import { Output } from './output.ts'

/** What a call knows of the command that was called. */
interface Called {
  readonly name: string
  readonly flags?: readonly { readonly name: string }[]
}

/** The words and flags that a command was called with. */
export class Call {
  readonly command: Called
  /** The words after the command, as many as it takes. */
  readonly words: readonly string[]
  /** The words after `--`, for a command that runs another program; null without `--`. */
  readonly rest: readonly string[] | null
  readonly out: Output
  readonly #flags: ReadonlyMap<string, readonly string[]>

  /** `flags` has the values of each flag that was given; a switch has none. */
  constructor(
    command: Called,
    words: readonly string[],
    rest: readonly string[] | null,
    flags: ReadonlyMap<string, readonly string[]>,
  ) {
    this.command = command
    this.words = words
    this.rest = rest
    this.#flags = flags
    this.out = new Output({
      isJson: this.has('json'),
      isQuiet: this.has('quiet'),
      isPlain: this.has('no-color'),
    })
  }

  has(flag: string): boolean {
    return this.#flags.has(flag)
  }

  /** The value of a flag, the last one if it was given again; null without it. */
  text(flag: string): string | null {
    return this.#flags.get(flag)?.at(-1) ?? null
  }

  /** Every value of a flag that may be given again, in order. */
  texts(flag: string): readonly string[] {
    return this.#flags.get(flag) ?? []
  }

  /** Whether a question can be asked: both ends are terminals, and nothing forbids it. */
  get mayAsk(): boolean {
    return process.stdin.isTTY && process.stderr.isTTY && !this.has('no-input') && !this.has('json')
  }
}

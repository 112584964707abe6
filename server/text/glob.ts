/**
 * A pattern for paths, as in `.dockerignore` (Dockerfile reference, ".dockerignore file"; Go's filepath.Match and `**`).
 * Matching takes time proportional to pattern and text: strangers may write either, and a backtracking expression could take
 * forever.
 */
export class Glob {
  readonly #steps: Step[]
  /** For each place, the round in which it was last reached: a set that is emptied by starting a new round. */
  readonly #reached: Uint32Array
  #round = 0

  /** Throws SyntaxError for an invalid pattern. */
  constructor(pattern: string) {
    this.#steps = parse(pattern)
    this.#reached = new Uint32Array(this.#steps.length + 1)
  }

  /** Whether the whole text matches. */
  test(text: string): boolean {
    let places: number[] = []
    this.#round += 1
    this.#reach(0, places)
    for (const character of text) {
      const next: number[] = []
      this.#round += 1
      for (const place of places) this.#advance(place, character, next)
      if (next.length === 0) return false
      places = next
    }
    return this.#reached[this.#steps.length] === this.#round
  }

  /** Adds the places that a character leads to. */
  #advance(place: number, character: string, next: number[]): void {
    const step = this.#steps[place]
    if (!step) return
    if (step.kind === 'one') {
      if (step.takes(character)) this.#reach(place + 1, next)
      return
    }
    if (step.kind !== 'segment' || character !== '/') this.#reach(place, next)
    if (step.kind === 'folders' && character === '/') this.#reach(place + 1, next)
  }

  /** Adds a place and those that can be reached from it without a character. */
  #reach(from: number, places: number[]): void {
    const open = [from]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (this.#reached[place] === this.#round) continue
      this.#reached[place] = this.#round
      const kind = this.#steps[place]?.kind
      if (kind === 'maybe folders') open.push(place + 1, place + 2)
      else places.push(place)
      if (kind === 'segment' || kind === 'all') open.push(place + 1)
    }
  }
}

type Step =
  | { kind: 'one'; takes: (character: string) => boolean }
  /** `*`: any characters of one segment. */
  | { kind: 'segment' }
  /** `**` at the end: any characters. */
  | { kind: 'all' }
  /** `**` before more: nothing, or whole folders, which the step after it matches. */
  | { kind: 'maybe folders' }
  | { kind: 'folders' }

function parse(pattern: string): Step[] {
  const characters = [...pattern]
  const steps: Step[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!
    if (character === '*' && characters[at + 1] === '*') {
      at += characters[at + 2] === '/' ? 2 : 1
      if (at + 1 >= characters.length) steps.push({ kind: 'all' })
      else steps.push({ kind: 'maybe folders' }, { kind: 'folders' })
    } else if (character === '*') steps.push({ kind: 'segment' })
    else if (character === '?') steps.push({ kind: 'one', takes: (other) => other !== '/' })
    else if (character === '[') {
      const end = classEnd(characters, at)
      steps.push({ kind: 'one', takes: readClass(characters.slice(at + 1, end)) })
      at = end
    } else {
      if (character === '\\') at += 1
      const wanted = characters[at]
      if (wanted === undefined) throw new SyntaxError('a backslash at the end')
      steps.push({ kind: 'one', takes: (other) => other === wanted })
    }
  }
  return steps
}

/** The end of a class. Its first character may be an escaped `]` only, as in Go's filepath.Match. */
function classEnd(characters: string[], start: number): number {
  for (let at = start + 1; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1
    else if (characters[at] === ']' && at > start + 1) return at
  }
  throw new SyntaxError('a class without an end')
}

/** Whether a character is in a class, such as `a-z_` or `^0-9`. */
function readClass(characters: string[]): (character: string) => boolean {
  const negated = characters[0] === '^'
  const ranges: [from: string, to: string][] = []
  let at = negated ? 1 : 0
  const next = (): string => {
    if (characters[at] === '\\') at += 1
    const character = characters[at]
    if (character === undefined) throw new SyntaxError('a backslash at the end of a class')
    at += 1
    return character
  }
  while (at < characters.length) {
    const from = next()
    const isRange = characters[at] === '-' && at + 1 < characters.length
    if (isRange) at += 1
    const to = isRange ? next() : from
    if (codeOf(from) > codeOf(to)) throw new SyntaxError('a range that ends before it begins')
    ranges.push([from, to])
  }
  return (character) =>
    ranges.some(([from, to]) => codeOf(from) <= codeOf(character) && codeOf(character) <= codeOf(to)) !==
    negated
}

function codeOf(character: string): number {
  return character.codePointAt(0)!
}

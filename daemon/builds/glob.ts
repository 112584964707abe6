/**
 * A pattern of `.dockerignore` (Dockerfile reference, ".dockerignore file"; Go's filepath.Match and `**`), matched in
 * time that grows with pattern and text alone: a source tree brings both, and an expression that backtracks could hold
 * up the whole server.
 */
export class Glob {
  readonly #steps: Step[]

  /** Throws SyntaxError for a pattern that cannot be read. */
  constructor(pattern: string) {
    this.#steps = parse(pattern)
  }

  /** Whether the whole text matches. */
  test(text: string): boolean {
    let places = this.#closure([0])
    for (const character of text) {
      const next: number[] = []
      for (const place of places) {
        const step = this.#steps[place]
        if (!step) continue
        if (step.kind === 'one' && step.takes(character)) next.push(place + 1)
        if ((step.kind === 'segment' && character !== '/') || step.kind === 'all' || step.kind === 'folders')
          next.push(place)
        if (step.kind === 'folders' && character === '/') next.push(place + 1)
      }
      if (next.length === 0) return false
      places = this.#closure(next)
    }
    return places.has(this.#steps.length)
  }

  /** The places that are reached without a character. */
  #closure(from: number[]): Set<number> {
    const places = new Set<number>()
    const open = [...from]
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (places.has(place)) continue
      places.add(place)
      const kind = this.#steps[place]?.kind
      if (kind === 'segment' || kind === 'all') open.push(place + 1)
      if (kind === 'maybe folders') open.push(place + 1, place + 2)
    }
    return places
  }
}

type Step =
  | { kind: 'one'; takes: (character: string) => boolean }
  /** `*`: any characters of one segment. */
  | { kind: 'segment' }
  /** `**` at the end: any characters. */
  | { kind: 'all' }
  /** `**` before more: nothing, or whole folders, which the step after it takes. */
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
      const expression = toClass(characters.slice(at + 1, end).join(''))
      steps.push({ kind: 'one', takes: (other) => expression.test(other) })
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

/** Where a class ends; its first character may be an escaped `]` only, as in Go's filepath.Match. */
function classEnd(characters: string[], start: number): number {
  for (let at = start + 1; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1
    else if (characters[at] === ']' && at > start + 1) return at
  }
  throw new SyntaxError('a class without an end')
}

/** One character against a class cannot backtrack. */
function toClass(content: string): RegExp {
  const negated = content.startsWith('^')
  const body = content
    .slice(negated ? 1 : 0)
    .replace(/\\(.)|[\\\]^[]/gsu, (plain, escaped?: string) => classLiteral(escaped ?? plain))
  return new RegExp(`^[${negated ? '^' : ''}${body}]$`, 'su')
}

function classLiteral(character: string): string {
  return /[\\\]^[-]/.test(character) ? `\\${character}` : character
}

import { schedule } from '#server/options/schedule.ts'
import type { ProbeTarget } from './probe.ts'

/** A limit, because a health check may answer something different each time. */
const MAX_NOTES = 10

/** Logs what a slow start waits for, and again when that changes. */
export class WaitNotes {
  readonly #say: (note: string) => void
  readonly #withinMs: number
  readonly #began = performance.now()
  #last = ''
  #count = 0

  constructor(say: (note: string) => void, withinMs: number) {
    this.#say = say
    this.#withinMs = withinMs
  }

  /** Takes the result of the last probe; `target` is null without a port. */
  look(reason: string, target: ProbeTarget | null): void {
    if (reason === this.#last || this.#count >= MAX_NOTES) return
    if (performance.now() - this.#began < schedule.quietStartMs) return
    this.#last = reason
    this.#count++
    const limit = `${Math.ceil(this.#withinMs / 60_000)} min at most`
    this.#say(`waiting ${target === null ? `until it is up: ${reason}` : awaited(target, reason)}; ${limit}`)
  }
}

function awaited({ port, path }: ProbeTarget, reason: string): string {
  const what = path === null ? `port ${port}` : `GET ${path}`
  if (path === null && reason === `nothing listens on ${what}`) return `for ${what}: nothing listens yet`
  return `for ${what}: ${reason.startsWith(`${what} `) ? `it${reason.slice(what.length)}` : reason}`
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Output } from '../../output.ts'
import type { Api, Query } from '../api.ts'
import { acrossCuts } from '../follow/cuts.ts'
import { findLink } from '../link.ts'
import { pathTo, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { printCurrent, printHistory, printServiceMetrics, type Printing } from './metrics-text.ts'

const DRAW_MS = 2_000
const RANGES = ['1h', '6h', '24h']

/** One kind of figures: where they are, and how they are shown. */
interface Figures {
  path: string
  query: Query
  print: Printing<never>
}

/** Shows what a service, or the server, uses: again and again on a terminal, once elsewhere. */
export async function metrics(call: Call): Promise<void> {
  const { out } = call
  const range = call.text('range')
  if (range !== null && !RANGES.includes(range)) throw wrong(`--range must be one of ${RANGES.join(', ')}`)
  await withApi(call, async (api) => {
    const figures = await figuresOf(call, api, range)
    if (!out.isTerminal || call.has('once') || process.env.TERM === 'dumb') {
      show(out, figures, await api.get(figures.path, figures.query))
      return
    }
    const screen = new Screen()
    await acrossCuts(
      { out, what: 'the figures', again: 'metrics' },
      async ({ options: { isOnce = false, onOpen }, progressed }) => {
        for (;;) {
          const answer = await api.get(figures.path, figures.query, { isOnce })
          onOpen?.()
          progressed()
          screen.clear()
          screen.drawn(show(out, figures, answer))
          await delay(DRAW_MS)
        }
      },
    )
  })
}

/** Without a service, or a link to one, the figures are the server's: those of now, or of a range. */
async function figuresOf(call: Call, api: Api, range: string | null): Promise<Figures> {
  const named = call.words[0] ?? call.text('service') ?? (process.env.DEPLOYER_SERVICE || null)
  if (call.has('server') || (named === null && findLink() === null))
    return range === null
      ? { path: '/server/metrics', query: {}, print: printCurrent }
      : { path: '/server/metrics/history', query: { range }, print: printHistory }
  const service = await serviceOf(call, api)
  return {
    path: pathTo('services', service, '/metrics'),
    query: { environment: service.environment, range },
    print: printServiceMetrics,
  }
}

/** Prints an answer. Returns how many lines that took. */
function show(out: Output, { print }: Figures, answer: unknown): number {
  if (!out.isJson) return print(out, answer as never)
  out.jsonLine(answer)
  return 0
}

/** The lines that were drawn last, in whose place the next ones are drawn. */
class Screen {
  #height = 0

  drawn(height: number): void {
    this.#height = height
  }

  clear(): void {
    if (this.#height > 0) process.stdout.write(`\u001b[${this.#height}A\u001b[J`)
  }
}

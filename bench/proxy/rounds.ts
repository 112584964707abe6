import { median } from '../lib/figures.ts'
import { cpuSeconds, endedChildrenCpuSeconds, machineBusySeconds } from '../lib/processes.ts'
import type { Contender, Program } from './programs.ts'
import type { Figures, Launch, Measure, Row } from './row.ts'
import type { Stand } from './stand.ts'

const WARM_UP_SECONDS = 5

/** How much is measured. */
export interface Extent {
  launches: number
  rounds: number
  seconds: number
}

/** The results of a row: figures by contender, for the rounds of each launch. */
export class Results {
  /** By contender, launch and round; undefined for a failed round. */
  #figures = new Map<Contender, (Figures | undefined)[][]>()
  /** Error messages by contender. */
  readonly faults = new Map<Contender, string>()

  add(contender: Contender, launch: number, figures: Figures | undefined): void {
    const launches = this.#figures.get(contender) ?? []
    this.#figures.set(contender, launches)
    const rounds = (launches[launch] ??= [])
    rounds.push(figures)
  }

  /** Returns the median of all rounds; NaN if there is none. */
  value(contender: Contender, { key }: Measure): number {
    const rounds = (this.#figures.get(contender) ?? []).flat()
    return median(rounds.map((figures) => figures?.[key] ?? Number.NaN).filter(Number.isFinite))
  }

  /** Returns how many times better our figure is than theirs: the median over the launches of each one's median round. */
  ratio(contender: Contender, { key, better }: Measure): number {
    const theirs = this.#figures.get(contender) ?? []
    const launches = (this.#figures.get('ours') ?? []).map((rounds, launch) => {
      const ratios = rounds.map((own, round) => {
        const ratio = (own?.[key] ?? Number.NaN) / (theirs[launch]?.[round]?.[key] ?? Number.NaN)
        return better === 'more' ? ratio : 1 / ratio
      })
      return median(ratios.filter(Number.isFinite))
    })
    return median(launches.filter(Number.isFinite))
  }
}

/** Everything that was measured. */
export interface Outcome {
  results: Map<Row, Results>
  /** The share of the machine that other processes used in the meantime. */
  disturbance: number
  minutes: number
}

/** Measures rows. Each launch starts all programs again, and in each round every program has a turn. */
export async function measureRows(
  stand: Stand,
  rows: readonly Row[],
  extent: Extent,
  cores: number,
): Promise<Outcome> {
  const results = new Map(rows.map((row) => [row, new Results()]))
  const began = performance.now()
  const others = othersSeconds(stand)
  for (let index = 0; index < extent.launches; index++) {
    const launch = await start(stand, rows, extent.seconds)
    for (const row of rows) {
      process.stderr.write(`launch ${index + 1} of ${extent.launches}: ${row.work}\n`)
      await measureRow(row, launch, extent, (contender, attempt) =>
        take(results.get(row)!, contender, index, attempt),
      )
    }
    for (const program of [...launch.programs.values(), ...launch.pairs.values()]) await stand.stop(program)
  }
  const seconds = (performance.now() - began) / 1000
  const disturbance = (othersSeconds(stand) - others) / seconds / cores
  return { results, disturbance, minutes: seconds / 60 }
}

async function start(stand: Stand, rows: readonly Row[], seconds: number): Promise<Launch> {
  const contenders = new Set(rows.flatMap((row) => row.contenders))
  const programs = new Map<Contender, Program>()
  for (const contender of contenders) programs.set(contender, await stand.start(contender))
  return { stand, programs, pairs: new Map(), seconds }
}

async function measureRow(
  row: Row,
  launch: Launch,
  { rounds }: Extent,
  take: (contender: Contender, attempt: () => Promise<Figures>) => Promise<void>,
): Promise<void> {
  // Only our program compiles its code while it runs.
  if (!row.once) await row.run({ ...launch, seconds: WARM_UP_SECONDS }, 'ours').catch(() => {})
  for (let round = 0; round < (row.once ? 1 : rounds); round++) {
    for (const contender of row.contenders) await take(contender, () => row.run(launch, contender))
  }
}

/** Runs one measurement; if it fails, that is recorded and the others continue. */
async function take(
  results: Results,
  contender: Contender,
  launch: number,
  attempt: () => Promise<Figures>,
): Promise<void> {
  try {
    results.add(contender, launch, await attempt())
  } catch (error) {
    results.add(contender, launch, undefined)
    results.faults.set(contender, error instanceof Error ? error.message : String(error))
  }
}

/** Returns the CPU time of this machine that was not used by the bench. */
function othersSeconds(stand: Stand): number {
  const own = stand.pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  return machineBusySeconds() - own - endedChildrenCpuSeconds(process.pid)
}

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { describeMachine } from '../lib/machine.ts'
import type { Contender } from './programs.ts'
import type { Extent, Outcome, Results } from './rounds.ts'
import type { Measure, Row, Target } from './row.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCUMENT = join(ROOT, 'docs/performance.md')
const BEGIN = '<!-- What follows is written by `npm run bench proxy`. -->'
const END = '<!-- Here ends what `npm run bench proxy` writes. -->'

const NAMES: Record<Contender, string> = {
  ours: 'ours',
  nginx: 'nginx',
  nginxLargeBuffers: 'nginx',
  haproxy: 'HAProxy',
  caddy: 'Caddy',
}
const HEADINGS = [
  'work',
  'figure',
  'ours',
  'nginx',
  'HAProxy',
  'Caddy',
  'times as good',
  'at least',
  'aim',
  '',
]

/** Returns the table of a run, as cells. */
export function tableOf(outcome: Outcome): string[][] {
  const lines = [...outcome.results].flatMap(([row, results]) =>
    row.measures.map((measure, index) => [index === 0 ? row.work : '', ...lineOf(row, results, measure)]),
  )
  return [HEADINGS, ...lines]
}

function lineOf(row: Row, results: Results, measure: Measure): string[] {
  const peers: Contender[] = [measure.nginx ?? 'nginx', 'haproxy', 'caddy']
  const cell = (contender: Contender) => {
    if (!row.contenders.includes(contender)) return '-'
    const value = results.value(contender, measure)
    return Number.isNaN(value) ? 'failed' : measure.format(value)
  }
  const ratios = peers.map((peer) => results.ratio(peer, measure))
  const compared = !measure.uncompared && !ratios.every(Number.isNaN)
  const bounds = (kind: 'atLeast' | 'after') =>
    measure.targets
      .filter((target) => target[kind] !== undefined)
      .map((target) => boundText(measure, target, target[kind]!))
      .join(', ')
  return [
    measure.label,
    cell('ours'),
    ...peers.map(cell),
    compared ? ratios.map((ratio) => (Number.isNaN(ratio) ? '-' : ratio.toFixed(2))).join(' / ') : '',
    bounds('atLeast'),
    bounds('after'),
    verdict(results, measure),
  ]
}

function boundText(measure: Measure, { against }: Target, bound: number): string {
  return against === null ? measure.format(bound) : `${Number(bound.toFixed(2))} of ${NAMES[against]}`
}

/** Returns the worst verdict on a measure's targets; empty without targets. */
function verdict(results: Results, measure: Measure): string {
  if (measure.targets.length === 0) return ''
  if (Number.isNaN(results.value('ours', measure))) return 'not measured'
  if (!measure.targets.every((target) => meets(results, measure, target, target.atLeast))) return 'missed'
  const aimed = measure.targets.every((target) => meets(results, measure, target, target.after))
  return aimed ? 'reached' : 'below the aim'
}

function meets(results: Results, measure: Measure, { against }: Target, bound: number | undefined): boolean {
  if (bound === undefined) return true
  if (against !== null) return results.ratio(against, measure) >= bound
  const value = results.value('ours', measure)
  return measure.better === 'more' ? value >= bound : value <= bound
}

/** Returns what failed, one line each. */
export function faultsOf(outcome: Outcome): string[] {
  return [...outcome.results].flatMap(([row, { faults }]) =>
    [...faults].map(([contender, message]) => `${row.work}, ${NAMES[contender]}: ${message}`),
  )
}

/** Prints the table with aligned columns. */
export function printTable(table: string[][]): void {
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((line) => line[column]!.length)))
  for (const line of table)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}

/** Describes when a run was made, with which programs and machine, and how much other work disturbed it. */
export function describeRun(
  { disturbance, minutes }: Outcome,
  { launches, rounds, seconds }: Extent,
): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const date = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  const peers = [
    `nginx ${versionOf('nginx', '-v')}`,
    `HAProxy ${versionOf('haproxy', '-v')}`,
    `Caddy ${versionOf('caddy', 'version')}`,
  ]
  return [
    `Figures of ${date}, version ${version} on Node ${process.versions.node}, against ${peers.join(', ')}.`,
    `${describeMachine()}.`,
    `${launches} launches of ${rounds} rounds of ${seconds} s in ${minutes.toFixed(0)} minutes;`,
    `other processes used ${(disturbance * 100).toFixed(1)} % of the machine in the meantime.`,
  ].join(' ')
}

function versionOf(command: string, option: string): string {
  // nginx prints its version to standard error.
  const { stdout, stderr } = spawnSync(command, [option], { encoding: 'utf8' })
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? 'of unknown version'
}

/** Replaces the part of the document that the bench writes, or appends it. */
export async function writeDocument(description: string, table: string[][], faults: string[]): Promise<void> {
  const lines = table.map((line) => `| ${line.join(' | ')} |`)
  lines.splice(1, 0, `|${' --- |'.repeat(HEADINGS.length)}`)
  const failed = faults.map((fault) => `- failed: ${fault}`).join('\n')
  const part = [BEGIN, '## The proxy', description, METHOD, lines.join('\n'), failed, END].join('\n\n')
  const before = readFileSync(DOCUMENT, 'utf8')
  const at = before.indexOf(BEGIN)
  const end = before.indexOf(END)
  const whole =
    at < 0 || end < at
      ? `${before.trimEnd()}\n\n${part}\n`
      : `${before.slice(0, at)}${part}${before.slice(end + END.length)}`
  const options = await resolveConfig(DOCUMENT)
  writeFileSync(DOCUMENT, await format(whole, { ...options, parser: 'markdown' }))
}

const METHOD = `One worker each, alone on a core; load and upstream share another. The other proxies forward the same fields and
write no logs. Each launch starts all programs again, and in each round every program has a turn. Figures are medians, and
"times as good" is the median over the launches of ours compared to nginx / HAProxy / Caddy, above 1 if ours is better.`

import { expect, test } from 'vitest'
import type { DeployStep } from '../../../dashboard/src/api/types.ts'
import { errorLine, foldedRows, LogGroups } from '../../../dashboard/src/logs/groups.ts'
import { fromLogEvent, type LogLine } from '../../../dashboard/src/logs/line.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString()

function step(id: string, second: number, more: Partial<DeployStep> = {}): DeployStep {
  const name = id.startsWith('build-') ? `[a 1/2] RUN ${id}` : id
  return { started_at: at(second), id, name, cached: false, duration_ms: 5, status: 'succeeded', ...more }
}

/** Lines, each with its step before a colon and the second at which it came as its place. */
function linesOf(...texts: string[]): LogLine[] {
  return texts.map((text, index) => {
    const [, step, line] = /^(\S*): (.*)$/.exec(text)!
    const kind = step === '' ? 'system' : 'stdout'
    return fromLogEvent({ ts: at(index), stream: kind, line: line!, ...(step && { step }) }, index + 1)
  })
}

function shown(groups: LogGroups): string[] {
  return groups.groups.map(({ step, lines }) => `${step?.id ?? '-'} ${lines.join(' ')}`)
}

const STEPS = [step('source', 1), step('plan', 3), step('build-1', 4), step('build-2', 4), step('switch', 12)]
const LINES = linesOf(
  ': waiting',
  'source: cloning',
  'source: commit',
  ': between',
  'build-1: #1 [a 1/2] RUN build-1',
  'build-1: of the first',
  'build-2: #2 [a 1/2] RUN build-2',
  'build-2: #1 DONE 1.0s',
  'build-1: #1 [a 1/2] RUN build-1',
  'build-1: again',
  'build-2: #2 DONE 0.1s',
  'build-1: #1 ERROR',
  'switch: live',
  ': failed: at the end',
)
const GROUPED = ['- 0', 'source 1 2', 'plan ', '- 3', 'build-1 5 9', 'build-2 7', 'switch 12', '- 13']

test('mixed lines are under their own steps, without those that repeat a heading', () => {
  const groups = new LogGroups()
  groups.update(LINES, STEPS)
  expect(shown(groups)).toEqual(GROUPED)
})

test('lines that come one by one are grouped like all at once', () => {
  const groups = new LogGroups()
  const [lines, steps]: [LogLine[], DeployStep[]] = [[], []]
  for (const line of LINES) {
    for (const step of STEPS.slice(steps.length)) if (step.started_at <= line.ts) steps.push(step)
    lines.push(line)
    groups.update(lines, steps)
  }
  expect(shown(groups)).toEqual(GROUPED)
})

test('a log that is read again, or has lost its oldest lines, is grouped from its beginning', () => {
  const groups = new LogGroups()
  groups.update(LINES, STEPS)
  groups.update([...LINES], STEPS)
  expect(shown(groups)).toEqual(GROUPED)
  const lines = [...LINES]
  groups.update(lines, STEPS)
  lines.splice(0, 3)
  groups.update(lines, STEPS)
  expect(shown(groups).slice(0, 4)).toEqual(['source ', 'plan ', '- 0', 'build-1 2 6'])
})

test('the rows of a folded log are headings and the lines of open steps, with each line in a row', () => {
  const groups = new LogGroups()
  groups.update(LINES, STEPS)
  const rows = foldedRows(groups, ({ id }) => id === 'build-1')
  const all = Array.from(
    { length: rows.count },
    (_, row) => rows.headingAt(row)?.step?.id ?? rows.lineAt(row),
  )
  expect(all).toEqual([0, 'source', 'plan', 3, 'build-1', 5, 9, 'build-2', 'switch', 13])
  expect([0, 1, 2, 3, 5, 9, 7, 13].map((line) => rows.rowOf(line))).toEqual([0, 1, 1, 3, 5, 6, 7, 9])
  // Lines that are not shown are at the heading that says the same.
  expect([4, 8, 11, 10].map((line) => rows.rowOf(line))).toEqual([4, 4, 4, 7])
  expect(rows.headingRowOf('switch')).toBe(8)
})

test('the error of a failed step is the first of its last lines that reads like one, else its last line', () => {
  const failed = step('build-1', 1, { status: 'failed' })
  const error = (...said: string[]) => {
    const lines = linesOf(...said.map((line) => `build-1: ${line}`), ': failed: exit code 1')
    const groups = new LogGroups()
    groups.update(lines, [failed])
    return lines[errorLine(groups, lines)]!.plain
  }
  expect(
    error('#1 [a 1/2] RUN build-1', 'fine', 'npm error missing script', 'npm error log', '#1 ERROR'),
  ).toBe('npm error missing script')
  expect(error('one', 'two', '', '#1 ERROR')).toBe('two')
  expect(error('#1 ERROR')).toBe('failed: exit code 1')
})

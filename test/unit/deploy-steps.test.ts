import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LogWriter } from '#server/logs/file-writer.ts'
import { StepLog, type DeployStep } from '#server/logs/steps.ts'

interface Stored extends Partial<DeployStep> {
  line?: string
  step?: string
}

/** What a log has stored after some work. */
async function stored(work: (log: LogWriter) => void): Promise<Stored[]> {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-steps-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const log = new LogWriter(join(folder, 'log'), { grown: () => {}, closed: () => {} })
  work(log)
  await log.close()
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n')
  expect(lines.every((line) => line.endsWith('"}'))).toBe(true)
  return lines.map((line) => JSON.parse(line) as Stored)
}

const begun = (number: number, name = `RUN ${number}`) => ({ number, name, startedMs: 1_000, end: null })
const ended = (number: number, status: 'succeeded' | 'failed', milliseconds = 5) => ({
  ...begun(number),
  end: { status, isCached: false, milliseconds },
})

test('each line is stored with its step, between the beginning and the end of it', async () => {
  const all = await stored((log) => {
    log.system('waiting')
    log.steps.begin('source', 'Fetch the source')
    log.system('cloning')
    log.steps.begin('prepare', 'Prepare the build')
    log.steps.build(begun(1))
    log.steps.build(begun(2))
    log.output('stdout', 'of the second', 2)
    log.output('stdout', 'of the first', 1)
    log.steps.build(ended(2, 'succeeded'))
    log.steps.begin('switch', 'Switch traffic')
    log.system('live')
    log.steps.end('succeeded')
    log.system('after it')
  })
  expect(all.map(({ id, status, line, step }) => (id ? `${id} ${status}` : `${step}: ${line}`))).toEqual([
    'undefined: waiting',
    'source running',
    'source: cloning',
    'source succeeded',
    'prepare running',
    'prepare succeeded',
    'build-1 running',
    'build-2 running',
    'build-2: of the second',
    'build-1: of the first',
    'build-2 succeeded',
    'build-1 succeeded',
    'switch running',
    'switch: live',
    'switch succeeded',
    'undefined: after it',
  ])
})

test('a failure is that of the step that ran, or of the step of the build that failed first', () => {
  const steps = new StepLog(() => {})
  steps.begin('prepare', 'Prepare the build')
  steps.build(begun(1))
  steps.build(begun(2))
  steps.build(ended(1, 'failed'))
  steps.end('failed')
  expect(steps.all.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'canceled'])
  steps.begin('health', 'Wait until healthy')
  steps.end('failed')
  expect(steps.all.at(-1)).toMatchObject({ id: 'health', status: 'failed' })
})

test('a deploy that continues keeps its earlier steps, cancels what was interrupted, and repeats no id', () => {
  const first = new StepLog(() => {})
  first.begin('source', 'Fetch the source')
  first.begin('prepare', 'Prepare the build')
  first.build(begun(1))
  const again = new StepLog(() => {})
  again.recall(structuredClone(first.all))
  again.begin('source', 'Fetch the source')
  again.begin('prepare', 'Prepare the build')
  again.build(begun(1))
  expect(again.builtId(1)).toBe('build-1~2')
  expect(again.all.map(({ id, status }) => [id, status])).toEqual([
    ['source', 'succeeded'],
    ['prepare', 'succeeded'],
    ['build-1', 'canceled'],
    ['source~2', 'succeeded'],
    ['prepare~2', 'succeeded'],
    ['build-1~2', 'running'],
  ])
})

test('a build of thousands of steps keeps a few hundred, and leaves room for the steps after it', () => {
  const steps = new StepLog(() => {})
  steps.begin('prepare', 'Prepare the build')
  for (let number = 1; number <= 5_000; number++) {
    steps.build(begun(number, 'x'.repeat(10_000)))
    steps.build(ended(number, 'succeeded'))
  }
  expect(steps.builtId(5_000)).toBeUndefined()
  steps.begin('switch', 'Switch traffic')
  expect(steps.current).toBe('switch')
  expect(JSON.stringify(steps.all).length).toBeLessThan(100_000)
})

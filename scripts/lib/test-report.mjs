import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.mjs'

/** @typedef {import('./vitest.mjs').FileReport} FileReport */
/**
 * A test run as it is saved.
 *
 * @typedef {{ args: string[], seconds: number, files: FileReport[], flaky: string[] }} TestRun
 */

const KEPT_RUNS = join(ROOT, '.cache/test-runs')
const MAX_KEPT_RUNS = 30
const SLOWEST_SHOWN = 20
/**
 * Longer files of the first tier keep a whole run waiting. This only reports them: on a busy machine, time must not fail a
 * run.
 */
const TOO_SLOW_SECONDS = 90

/**
 * Reports where the time of a run went, which tests passed only when they were run again, and the counts; saves the run.
 *
 * @param {TestRun} run
 * @param {{ isAll: boolean }} tier
 */
export function reportRun(run, { isAll }) {
  keep(run)
  if (run.files.length > 1) {
    print('', ...suiteLines(run.files), '', ...slowestLines(run.files))
    if (!isAll) print(...tooSlowLines(run.files))
    print('', `total time: ${duration(run.seconds)}`)
  }
  print(...flakyLines(run.flaky))
  const failed = sum(run.files, (file) => file.failed.length + (file.isBroken ? 1 : 0))
  const skipped = sum(run.files, (file) => file.skipped)
  const counts = `${sum(run.files, (file) => file.passed)} passed, ${failed} failed`
  print('', counts + (skipped > 0 ? `, ${skipped} skipped` : ''))
}

/** @param {FileReport[]} files */
function suiteLines(files) {
  const names = [...new Set(files.map(({ suite }) => suite))]
  return [
    'suite      files  tests               first to last  in total',
    ...names.map((name) => {
      const own = files.filter(({ suite }) => suite === name)
      const wall = Math.max(...own.map(({ ended }) => ended)) - Math.min(...own.map(({ began }) => began))
      const tests = sum(own, ({ passed, failed }) => passed + failed.length)
      return [
        name.padEnd(10),
        String(own.length).padStart(5),
        String(tests).padStart(6),
        duration(wall / 1_000).padStart(26),
        duration(sum(own, secondsOf)).padStart(10),
      ].join(' ')
    }),
  ]
}

/** @param {FileReport[]} files */
function slowestLines(files) {
  const slowest = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, SLOWEST_SHOWN)
  return ['the slowest files', ...slowest.map(timeLine)]
}

/** @param {FileReport[]} files */
function tooSlowLines(files) {
  const slow = files.filter((file) => secondsOf(file) > TOO_SLOW_SECONDS)
  if (slow.length === 0) return []
  return ['', `too slow for the first tier (over ${TOO_SLOW_SECONDS} s)`, ...slow.map(timeLine)]
}

/** @param {FileReport} file */
function timeLine(file) {
  return `${secondsOf(file).toFixed(1).padStart(7)} s  ${file.path}`
}

/** @param {string[]} flaky */
function flakyLines(flaky) {
  if (flaky.length === 0) return []
  const runs = keptRuns()
  const lines = flaky.map((fault) => {
    const times = runs.filter((run) => run.flaky.includes(fault)).length
    return `  ${fault}${times > 1 ? ` (in ${times} of the last ${runs.length} runs here)` : ''}`
  })
  return ['', 'passed only when run again, which is a bug in the test or in the product', ...lines]
}

/** @param {TestRun} run */
function keep(run) {
  mkdirSync(KEPT_RUNS, { recursive: true })
  const name = `${new Date().toISOString().replaceAll(':', '-')}.json`
  writeFileSync(join(KEPT_RUNS, name), JSON.stringify(run))
  for (const old of keptNames().slice(0, -MAX_KEPT_RUNS)) rmSync(join(KEPT_RUNS, old))
}

/** @returns {TestRun[]} the saved runs, oldest first */
function keptRuns() {
  return keptNames().map((name) => JSON.parse(readFileSync(join(KEPT_RUNS, name), 'utf8')))
}

function keptNames() {
  return readdirSync(KEPT_RUNS).sort()
}

/** @param {FileReport} file */
function secondsOf({ began, ended }) {
  return (ended - began) / 1_000
}

/** @param {number} seconds */
function duration(seconds) {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} value
 */
function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0)
}

/** @param {string[]} lines */
function print(...lines) {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
}

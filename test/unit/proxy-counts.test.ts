import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Ledger, countAnswer, countStatus, type Sums } from '../../proxy/counts.ts'
import { CountsBook } from '../../proxy/supervisor/counts-book.ts'

let directory: string
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'deployer-counts-test-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** What a worker reports when it answered so many requests with 200. */
function sumsOf(answers: number): Sums {
  const tally = new Ledger().of('srv')
  for (let answer = 0; answer < answers; answer++) countAnswer(tally, 200, 0.01)
  return { srv: tally.row! }
}

function report(book: CountsBook, incarnation: string, answers: number): void {
  book.report({ incarnation, sums: sumsOf(answers), connections: 0, requests: 0 })
}

function total(book: CountsBook): number {
  return book.view().targets.srv?.status_2xx ?? 0
}

test('a report replaces what the worker reported before, and the sums of an ended worker stay', () => {
  const book = new CountsBook(directory)
  book.begin(new Set())
  report(book, 'a', 3)
  report(book, 'a', 5)
  report(book, 'b', 1)
  expect(total(book)).toBe(6)
  book.close('a')
  expect(total(book)).toBe(6)
  report(book, 'b', 2)
  expect(total(book)).toBe(7)
})

test('a supervisor that follows another continues its sums, whoever reports before it has read them', () => {
  const before = new CountsBook(directory)
  before.begin(new Set())
  report(before, 'ended', 3)
  before.close('ended')
  report(before, 'running', 5)
  report(before, 'died with the supervisor', 7)
  before.save()
  const after = new CountsBook(directory)
  report(after, 'running', 6)
  report(after, 'new', 1)
  // What it knows so far may not replace the file, and a worker that ends has to wait.
  after.save()
  expect(() => after.keep()).toThrow('not been read yet')
  after.begin(new Set(['running']))
  expect(total(after)).toBe(3 + 6 + 7 + 1)
  expect(after.view().incarnation).toBe(before.view().incarnation)
  report(after, 'new', 2)
  after.close('running')
  expect(total(after)).toBe(3 + 6 + 7 + 2)
})

test('without a running worker the sums begin again', () => {
  const before = new CountsBook(directory)
  before.begin(new Set())
  report(before, 'a', 3)
  before.save()
  const after = new CountsBook(directory)
  after.begin(new Set())
  expect(total(after)).toBe(0)
  expect(after.view().incarnation).not.toBe(before.view().incarnation)
})

test('a ledger reports each changed tally once, until it changes again', () => {
  const ledger = new Ledger()
  countAnswer(ledger.of('a'), 200, 0.01)
  countStatus(ledger.of('a'), 499)
  countStatus(ledger.of('b'), 101)
  ledger.of('never asked')
  expect(ledger.takeChanged().map(({ id }) => id)).toEqual(['a', 'b'])
  expect(ledger.takeChanged()).toEqual([])
  countStatus(ledger.of('b'), 404)
  expect(ledger.takeChanged()).toEqual([ledger.of('b')])
  expect(ledger.of('b').row!.slice(0, 4)).toEqual([1, 0, 1, 0])
})

import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest'
import { followLog, logger, recentLog, setUpLog } from '#server/log.ts'

const log = logger('test')
let printed: MockInstance

beforeEach(() => {
  printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterEach(() => {
  setUpLog('info', 'pretty')
  printed.mockRestore()
})

const lines = () => printed.mock.calls.map(([line]) => line as string)
const newest = () => recentLog('debug', 1)[0]!

describe("the server's own log", () => {
  it('is one JSON object per line for programs', () => {
    setUpLog('info', 'json')
    log.warn('two\nlines', { count: 2 })
    expect(lines()).toHaveLength(1)
    expect(lines()[0]).toMatch(/^[^\n]*\n$/)
    expect(JSON.parse(lines()[0]!)).toEqual(newest())
  })

  it('is one line without control characters for people', () => {
    setUpLog('info', 'pretty')
    log.info('red \x1b[31m and\nfake 2026 error', { name: 'a\nb' })
    expect(lines()).toHaveLength(1)
    expect(lines()[0]).toMatch(/ info {2}test: red \\x1b\[31m and\\x0afake 2026 error \{"name":"a\\nb"\}\n$/)
  })

  it('has debug lines only on request', () => {
    setUpLog('info', 'json')
    log.debug('quiet')
    setUpLog('debug', 'json')
    log.debug('loud')
    expect(lines().map((line) => JSON.parse(line).message)).toEqual(['loud'])
  })

  it.each([
    ['a long message', 'é'.repeat(9_000), { a: 1 }, { a: 1 }],
    ['long fields', 'short', { a: 'x'.repeat(9_000) }, {}],
    ['both', 'x'.repeat(5_000), { a: 'x'.repeat(5_000) }, {}],
  ])('cuts a line over 8 KiB: %s', (_, message, fields, kept) => {
    log.error(message, fields)
    const entry = newest()
    expect(entry.fields).toEqual(kept)
    expect(
      Buffer.byteLength(entry.message) + Buffer.byteLength(JSON.stringify(entry.fields)),
    ).toBeLessThanOrEqual(8_192)
    expect(message.startsWith(entry.message)).toBe(true)
  })

  it('keeps the last 2,000 lines', () => {
    for (let line = 0; line < 2_100; line++) log.info(`line ${line}`)
    expect(recentLog('debug', 9_999)).toHaveLength(2_000)
    expect(newest().message).toBe('line 2099')
  })

  it('keeps what was logged, whatever becomes of the logged object', () => {
    const fields = { state: 'then' }
    log.info('look', fields)
    fields.state = 'now'
    expect(newest().fields).toEqual({ state: 'then' })
  })

  it('tells a follower that fell behind how much it has missed', async () => {
    const stop = new AbortController()
    const followed = followLog(stop.signal)
    for (let line = 0; line < 1_500; line++) log.info(`line ${line}`)
    stop.abort()
    let taken = 0
    for await (const _ of followed) taken++
    expect(taken + followed.takeDropped()).toBe(1_500)
    expect(taken).toBe(1_024)
  })
})

import { execFile, execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open as openFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lineMatcher, linesIn, parseSearch, type LineFilter } from '#server/logs/filter.ts'
import { ForwardReader } from '#server/logs/forward.ts'
import { recentLog } from '#server/log.ts'
import type { LogLine } from '#server/logs/lines.ts'
import { ServiceLog } from '#server/logs/store.ts'
import { Allowance, readTail } from '#server/logs/tail.ts'

const PART_BYTES = 4_096
const MEBIBYTE = 1024 * 1024
const ALL: LineFilter = {
  since: null,
  until: null,
  stream: null,
  instances: null,
  levels: null,
  search: null,
}
const ROOMY = new Allowance(1e9)

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'service-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function open(directory: string): ServiceLog {
  const log = new ServiceLog(directory, PART_BYTES, () => {})
  onTestFinished(() => log.close())
  return log
}

const line = (text: string, fields: Partial<LogLine> = {}): LogLine => ({
  ts: '2026-01-01T00:00:00.000Z',
  stream: 'stdout',
  line: text,
  instance: 'srv-00000000000000000000-aaaaa',
  ...fields,
})

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

const textsOf = (blocks: readonly Buffer[]) =>
  linesIn(Buffer.concat(blocks).toString('utf8')).map((text) => (JSON.parse(text) as LogLine).line)

async function stored(log: ServiceLog, tail = 1_000_000, filter: LineFilter = ALL): Promise<string[]> {
  const { blocks } = await readTail(await log.stored(), lineMatcher(filter), tail, ROOMY)
  return textsOf(blocks)
}

test('added lines are there, in order, over many parts, and after another start', async () => {
  const directory = newDirectory()
  const log = open(directory)
  for (let n = 1; n <= 1_000; n += 10) {
    log.append(numbers(n, n + 9).map((text) => line(text)))
    await log.flushed()
  }
  expect(readdirSync(directory).length).toBeGreaterThan(5)
  expect(await stored(log)).toEqual(numbers(1, 1_000))
  expect(await stored(log, 7)).toEqual(numbers(994, 1_000))
  await log.close()
  const again = open(directory)
  expect(await again.end()).toBe(1_000)
  again.append([line('1001')])
  expect(await stored(again)).toEqual(numbers(1, 1_001))
})

test('stored lines and those that a listener gets are all lines, each once', async () => {
  const log = open(newDirectory())
  let last = 0
  const say = (count: number) => {
    log.append(numbers(last + 1, last + count).map((text) => line(text)))
    last += count
  }
  for (let round = 0; round < 20; round++) {
    const heard: string[] = []
    say(40)
    if (round % 3 === 0) await log.flushed()
    if (round % 3 === 1) void log.flushed()
    const listening = log.listen((lines) => heard.push(...lines))
    say(5)
    const { slices, stop } = await listening
    say(30)
    stop()
    const wanted = numbers(1, last)
    say(2)
    await log.flushed()
    const { blocks } = await readTail(slices, lineMatcher(ALL), 1_000_000, ROOMY)
    expect([...textsOf(blocks), ...textsOf([Buffer.from(heard.join(''))])]).toEqual(wanted)
  }
})

test('a line that a kill tore off is cut away, and the next one is complete', async () => {
  const directory = newDirectory()
  const log = open(directory)
  log.append([line('whole')])
  await log.close()
  const [part] = readdirSync(directory)
  appendFileSync(join(directory, part!), '{"ts":"2026-01-01T00:00:00.000Z","stream":"stdo')
  const again = open(directory)
  again.append([line('next')])
  expect(await stored(again)).toEqual(['whole', 'next'])
  expect(await again.end()).toBe(2)
})

test('packed parts are read like others, and the line numbers continue after them', async () => {
  const directory = newDirectory()
  const log = open(directory)
  log.append(numbers(1, 500).map((text) => line(text)))
  await log.close()
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
    rmSync(path)
  }
  const again = open(directory)
  again.append([line('501')])
  expect(await stored(again)).toEqual(numbers(1, 501))
  expect(await stored(again, 3)).toEqual(numbers(499, 501))
  expect(await again.end()).toBe(501)
})

test('a part that has grown, or was packed, since it was listed is read as it was then', async () => {
  const directory = newDirectory()
  const log = open(directory)
  log.append(numbers(1, 5).map((text) => line(text)))
  const listed = await log.stored()
  const found = async () => textsOf((await readTail(listed, null, 100, ROOMY)).blocks)
  log.append([line('6')])
  await log.close()
  expect(await found()).toEqual(numbers(1, 5))
  const path = join(directory, readdirSync(directory)[0]!)
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
  rmSync(path)
  expect(await found()).toEqual(numbers(1, 5))
})

test('stored and live lines meet without a gap and without a repetition, wherever a reader joins', async () => {
  const log = open(newDirectory())
  let next = 1
  const printing = setInterval(() => {
    log.append(numbers(next, next + 49).map((text) => line(text)))
    next += 50
  }, 1)
  for (let round = 0; round < 50; round++) {
    const { slices, ring, position } = await log.join()
    const { blocks } = await readTail(slices, null, 1_000_000, ROOMY)
    const got = textsOf(blocks)
    for (let at = position; got.length < 50 || at < position + 20;) {
      const taken = ring.take(at)
      if (!taken) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        continue
      }
      expect(taken.lost).toBe(0)
      got.push(...textsOf([taken.text]))
      at = taken.next
    }
    expect(got).toEqual(numbers(1, got.length))
    log.leave()
  }
  clearInterval(printing)
})

test('a follower begins with recent lines of the store, which all followers share', async () => {
  const directory = newDirectory()
  const log = open(directory)
  log.append(numbers(1, 300).map((text) => line(text)))
  await log.flushed()
  const { ring } = await log.join()
  expect(ring.reaches(10_000)).toBe(true)
  expect(textsOf([ring.take(ring.tail(2))!.text])).toEqual(['299', '300'])
  log.append([line('301')])
  expect(textsOf([ring.take(ring.tail(1))!.text])).toEqual(['301'])
  log.leave()
})

test('lines that come faster than they can be kept are counted for each instance', async () => {
  const log = new ServiceLog(newDirectory(), 64 * MEBIBYTE, () => {})
  onTestFinished(() => log.close())
  const [one, other] = ['srv-00000000000000000000-aaaaa', 'srv-00000000000000000000-bbbbb']
  log.append(Array.from({ length: 17 }, () => line('x'.repeat(MEBIBYTE))))
  log.append([line('1'), line('2', { instance: other }), line('3')])
  log.lose(4, other)
  const lost = (instance: string) => stored(log, 100, { ...ALL, stream: 'system', instances: [instance] })
  const why = 'lost here: the output came faster than it can be stored'
  expect(await lost(one)).toEqual([`2 lines were ${why}`])
  expect(await lost(other)).toEqual([`5 lines were ${why}`])
})

test('a full disk is reported once; following continues, and missing lines are counted', async () => {
  const directory = newDirectory()
  rmSync(directory, { recursive: true })
  // A file in place of the folder refuses like a full disk, for root too.
  writeFileSync(directory, '')
  const log = open(directory)
  const { ring, position } = await log.join()
  log.append([line('1')])
  await log.flushed()
  log.append([line('2')])
  await log.flushed()
  const live = () => {
    const got: string[] = []
    for (let taken = ring.take(position); taken; taken = ring.take(taken.next))
      got.push(...textsOf([taken.text]))
    return got
  }
  expect(live().filter((text) => /^\d+$/.test(text))).toEqual(['1', '2'])
  expect(live().filter((text) => text.includes('shown but not stored'))).toHaveLength(1)
  rmSync(directory)
  await expect
    .poll(
      async () => {
        log.append([line('later')])
        return stored(log)
      },
      { timeout: 20_000 },
    )
    .toContainEqual(expect.stringMatching(/^\d+ lines were lost here: the disk did not take/))
  // It is where they were lost, before the lines that were kept again.
  expect((await stored(log)).slice(0, 2)).toEqual([expect.stringContaining('lost here'), 'later'])
  log.leave()
})

test('a disk that is full keeps whole lines, and accepts the next ones when there is space', async () => {
  const disk = newDirectory()
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk])
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
  const log = open(join(disk, 'logs'))
  const long = 'x'.repeat(1_000)
  for (let n = 1; n <= 400; n++) {
    log.append([line(`${n} ${long}`)])
    await log.flushed()
  }
  const numbersOf = (texts: string[]) =>
    texts.filter((text) => text.endsWith(long)).map((text) => parseInt(text))
  const kept = numbersOf(await stored(log))
  expect(kept).toEqual(numbers(1, kept.length).map(Number))
  expect(kept.length).toBeLessThan(300)
  for (const name of readdirSync(join(disk, 'logs')).slice(0, 10)) rmSync(join(disk, 'logs', name))
  await expect
    .poll(
      async () => {
        log.append([line('later')])
        return stored(log)
      },
      { timeout: 20_000 },
    )
    .toContainEqual(expect.stringMatching(/^\d+ lines were lost here: the disk did not take/))
  expect((await stored(log)).filter((text) => text === 'later').length).toBeGreaterThan(0)
})

test('of many lines a disk that is full keeps those that fit, and none is glued to a torn one', async () => {
  const disk = newDirectory()
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk])
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(128 * 1024))
  const handle = await openFile(ballast)
  const truncate = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'truncate')
  onTestFinished(() => truncate.mockRestore())
  await handle.close()
  truncate.mockRejectedValueOnce(new Error('EIO'))
  const log = new ServiceLog(join(disk, 'logs'), MEBIBYTE, () => {})
  onTestFinished(() => log.close())
  const long = 'x'.repeat(1_000)
  const reports = () =>
    recentLog('error', 2_000).filter(({ message }) => message.startsWith('a service log cannot be stored'))
  const before = reports().length
  log.append(numbers(1, 300).map((text) => line(`${text} ${long}`)))
  const kept = (await stored(log)).map((text) => text.split(' ')[0])
  expect(truncate).toHaveBeenCalled()
  expect(kept.length).toBeGreaterThan(50)
  expect(kept).toEqual(numbers(1, kept.length))
  // It is tried again each second. The note of what was lost may fit then, and the line after it not: it is still full.
  const now = performance.now.bind(performance)
  let aheadMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
  onTestFinished(() => clock.mockRestore())
  for (let tries = 0; tries < 10; tries++) {
    aheadMs += 1_100
    log.append([line(long)])
    await log.flushed()
  }
  expect(reports().length - before).toBe(1)
  rmSync(ballast)
  await expect
    .poll(
      async () => {
        log.append([line('later')])
        return stored(log)
      },
      { timeout: 20_000 },
    )
    .toContain('later')
  const after = (await stored(log)).filter((text) => !text.endsWith(long))
  const lost = after.map((text) => Number(/^(\d+) lines? w\w+ lost here: /.exec(text)?.[1] ?? 0))
  const shown = after.filter((text) => text === 'later').length
  expect(lost.reduce((sum, count) => sum + count, kept.length + shown)).toBeGreaterThanOrEqual(300)
})

test('filters return what was requested', async () => {
  const other = 'srv-00000000000000000000-bbbbb'
  const log = open(newDirectory())
  log.append([
    line('Timeout of GET /a', { ts: '2026-01-01T00:00:01.000Z' }),
    line('fine', { ts: '2026-01-01T00:00:02.000Z', stream: 'stderr' }),
    line('\u001b[31mtime\u001b[0mout "quoted\\', { ts: '2026-01-01T00:00:03.000Z', instance: other }),
    line('ÄRGER', { ts: '2026-01-01T00:00:04.000Z', instance: other }),
    line('exit 3', { ts: '2026-01-01T00:00:05.000Z', stream: 'system' }),
    line('\u0130stanbul stdout', { ts: '2026-01-01T00:00:06.000Z' }),
  ])
  const found = (filter: Partial<LineFilter>) => stored(log, 100, { ...ALL, ...filter })
  expect(await found({ search: { text: 'TIMEOUT' } })).toHaveLength(2)
  expect(await found({ search: { text: '"quoted\\' } })).toHaveLength(1)
  expect(await found({ search: { text: 'ärger' } })).toEqual(['ÄRGER'])
  // What is stored around the text is not searched.
  expect(await found({ search: { text: 'stdout' } })).toEqual(['\u0130stanbul stdout'])
  expect(await found({ search: { text: '2026' } })).toEqual([])
  expect(await found({ search: { expression: '^exit [0-9]+$', ignoreCase: false } })).toEqual(['exit 3'])
  expect(await found({ search: { expression: 'FINE|ärger', ignoreCase: true } })).toEqual(['fine', 'ÄRGER'])
  expect(await found({ stream: 'stderr' })).toEqual(['fine'])
  expect(await found({ instances: [other], stream: 'stdout' })).toHaveLength(2)
  expect(await found({ instances: [] })).toEqual([])
  expect(await found({ since: '2026-01-01T00:00:02.000Z', until: '2026-01-01T00:00:03.000Z' })).toEqual([
    'fine',
  ])
})

test('a reader with little space gets the newest lines and is told that there were more', async () => {
  const log = open(newDirectory())
  log.append(numbers(1, 20_000).map((text) => line(`${text} ${'x'.repeat(90)}`)))
  const found = await readTail(await log.stored(), null, 100_000, new Allowance(300_000))
  expect(found.isCut).toBe(true)
  expect(textsOf(found.blocks).at(-1)).toMatch(/^20000 /)
  expect(Buffer.concat(found.blocks).length).toBeLessThanOrEqual(300_000)
})

test('lines that are added at once go into as many parts as they need', async () => {
  const directory = newDirectory()
  const log = open(directory)
  log.append(numbers(1, 1_000).map((text) => line(text)))
  expect(await stored(log)).toEqual(numbers(1, 1_000))
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size)
  expect(Math.max(...sizes)).toBeLessThan(PART_BYTES + 200)
  expect(await log.end()).toBe(1_000)
})

test.each([
  ['damaged', () => Buffer.from('not packed')],
  ['too large', () => gzipSync(Buffer.alloc(65 * 1024 * 1024))],
])('a part that is %s is left out and reported; the log continues after it', async (_, content) => {
  const directory = newDirectory()
  const log = open(directory)
  log.append([line('before')])
  await log.close()
  writeFileSync(join(directory, '000000000000001.2026-01-01.ndjson.gz'), content())
  const again = open(directory)
  again.append([line('after')])
  const leftOut = expect.stringMatching(/^a part of the log cannot be read and is left out here/)
  expect(await stored(again)).toEqual(['before', leftOut, 'after'])
  const batch = await new ForwardReader().next(await again.stored(), 1, 10, 10_000)
  expect(batch).toMatchObject({ first: 2, count: 1 })
})

test.each([
  `(?:${'a'.repeat(485)}){1000}`,
  '((?:a{100}){100}){10}',
  `(?:\\Q[\\E${'[a-z]'.repeat(40)}){1,1000}`,
])('an expression that is large when expanded is refused before it is compiled: %s', (expression) => {
  const began = performance.now()
  expect(() => parseSearch(`/${expression}/`)).toThrow('too large')
  expect(performance.now() - began).toBeLessThan(5_000)
})

test.each([
  String.raw`\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}`,
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  '(?:[[:alpha:]]+ ){1,100}end',
])('an expression of usual size is accepted: %s', (expression) => {
  expect(parseSearch(`/${expression}/`)).toMatchObject({ expression })
})

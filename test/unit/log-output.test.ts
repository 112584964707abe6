import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Engine, LogOptions, OutputLine } from '../../daemon/engine/index.ts'
import { followContainer } from '../../daemon/logs/follow.ts'
import { KnownLines } from '../../daemon/logs/known.ts'
import { readOutput } from '../../daemon/logs/output.ts'

/** A container whose log, streams and removal a test controls: a real engine shows these moments too rarely. */
class Container {
  log: OutputLine[] = []
  isThere = true
  isPaused = false
  /** How often it was looked for in vain. */
  misses = 0
  /** How often the log was read, and how many lines of it. */
  readings = 0
  linesRead = 0
  /** How many lines of a reading come before it hangs; it ends silently when it is told to. */
  readable = Infinity
  /** Called once, when the log has been read for the first time. */
  onFirstReading: () => void = () => {}
  #live: OutputLine[] = []
  #hasEnded = false
  #wake: () => void = () => {}

  /** Prints a line, at a time of the engine's clock. */
  print(line: string, ts = now()): void {
    this.log.push({ ts, stream: 'stdout', line })
    this.printUnlogged(line)
  }

  /** Prints the end of a line that had begun before: only the log has all of it. */
  end(begun: string, end: string, stream: OutputLine['stream'] = 'stdout'): void {
    this.log.push({ ts: now(), stream, line: begun + end })
    this.printUnlogged(end, stream)
  }

  /** Prints a line that arrives live later than it is logged. */
  async printLate(line: string, lateMs: number): Promise<void> {
    this.log.push({ ts: now(), stream: 'stdout', line })
    await delay(lateMs)
    this.printUnlogged(line)
  }

  /** Prints a line that the engine's log does not have yet. */
  printUnlogged(line: string, stream: OutputLine['stream'] = 'stdout'): void {
    this.#live.push({ ts: new Date().toISOString(), stream, line })
    this.#wake()
  }

  /** Its program exits, and with it the attached streams. */
  stop(): void {
    this.#hasEnded = true
    this.#wake()
  }

  remove(): void {
    this.isThere = false
    this.#wake()
  }

  /** What a reader returns, in the background. */
  read(known?: KnownLines, abort = new AbortController()): string[] {
    onTestFinished(() => abort.abort())
    const got: string[] = []
    const reading = async () => {
      for await (const lines of readOutput(this.#engine(), 'c', { signal: abort.signal, known }))
        got.push(...lines.map(({ line }) => line))
    }
    void reading()
    return got
  }

  /** What a follower returns, in the background. */
  follow(): string[] {
    const abort = new AbortController()
    onTestFinished(() => abort.abort())
    const got: string[] = []
    const following = async () => {
      for await (const { line } of followContainer(this.#engine(), 'c', { signal: abort.signal }))
        got.push(line)
    }
    void following()
    return got
  }

  #engine(): Engine {
    const inspect = async () => {
      if (!this.isThere) this.misses++
      return this.isThere ? { running: true } : null
    }
    const containers = { inspect }
    const output = {
      attach: async (_: string, signal: AbortSignal) => {
        if (this.isPaused) throw new Error('paused')
        signal.addEventListener('abort', () => this.#wake())
        this.#live = []
        this.#hasEnded = false
        return this.#attached(signal)
      },
      logs: (_: string, options: LogOptions) => this.#logged(options),
    }
    return { containers, output } as unknown as Engine
  }

  async *#attached(signal: AbortSignal): AsyncGenerator<OutputLine[]> {
    while (!signal.aborted) {
      if (this.#live.length > 0) yield this.#live.splice(0)
      else if (!this.isThere || this.#hasEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async *#logged({ since, tail, signal }: LogOptions): AsyncGenerator<OutputLine> {
    this.readings++
    if (!this.isThere) throw new Error('no such container')
    const lines = this.log.filter(({ ts }) => since === undefined || ts >= since)
    const wanted = tail === undefined ? lines : lines.slice(-tail)
    for (const line of wanted.slice(0, this.readable)) {
      this.linesRead++
      yield line
    }
    if (this.readings === 1) this.onFirstReading()
    if (wanted.length > this.readable)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
}

const now = () => new Date().toISOString().replace('Z', '000001Z')
const at = (moment: number) => new Date(moment).toISOString().replace('Z', '000000Z')

/** A log of numbers, a second apart, that ends at a moment; and what is known of its first lines. */
function numbered(container: Container, count: number, end: number, knownCount: number): KnownLines {
  for (let n = 1; n <= count; n++) container.print(String(n), at(end - (count - n) * 1_000))
  const known = new KnownLines()
  known.add(container.log.slice(0, knownCount))
  return known
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))

test("a container's last lines are returned, even if it is removed before the log was read again", async () => {
  const container = new Container()
  container.print('first', at(Date.now() - 5_000))
  const got = container.read()
  await expect.poll(() => got).toEqual(['first'])
  container.printUnlogged('last words')
  container.remove()
  await expect.poll(() => got).toEqual(['first', 'last words'])
})

test('after the clock was set back the place is found, and no line is repeated', async () => {
  const container = new Container()
  const known = numbered(container, 20, Date.now() + 3_600_000, 10)
  // These were printed after the clock was set.
  for (const n of [21, 22]) container.print(String(n), at(Date.now() - 30_000 + n))
  const got = container.read(known)
  await expect.poll(() => got).toEqual(numbers(22).slice(10))
  for (const n of [23, 24]) container.print(String(n))
  await expect.poll(() => got.at(-1)).toBe('24')
  expect(got).toEqual(numbers(24).slice(10))
})

test('a log that was emptied is read from its new beginning', async () => {
  const container = new Container()
  const known = numbered(container, 20, Date.now() - 60_000, 20)
  container.log = []
  for (const n of [21, 22]) container.print(String(n))
  const got = container.read(known)
  await expect.poll(() => got).toEqual(['21', '22'])
})

test('missing lines in what is known do not hide where it ends', async () => {
  const container = new Container()
  const known = numbered(container, 20, Date.now() - 60_000, 0)
  known.add([...container.log.slice(0, 5), ...container.log.slice(8, 12)])
  const got = container.read(known)
  await expect.poll(() => got).toEqual(numbers(20).slice(12))
})

test('a reader that is told to end while it reads the log returns nothing that comes after a gap', async () => {
  const container = new Container()
  const known = numbered(container, 20, Date.now() - 60_000, 1)
  container.readable = 10
  const abort = new AbortController()
  const got = container.read(known, abort)
  await expect.poll(() => container.readings).toBe(1)
  container.print('21')
  abort.abort()
  await delay(300)
  expect(got).toEqual([])
})

test('a line that the log gets late, from before the attachment, is returned even if nothing follows', async () => {
  const container = new Container()
  container.print('first', at(Date.now() - 5_000))
  container.onFirstReading = () => container.log.push({ ts: now(), stream: 'stdout', line: 'second' })
  const got = container.read()
  await expect.poll(() => got).toEqual(['first', 'second'])
})

test('lines that arrive live much later than they are logged are returned once', async () => {
  const container = new Container()
  const printed = Promise.withResolvers<unknown>()
  container.onFirstReading = () =>
    printed.resolve(Promise.all(['1', '2', '3'].map((line) => container.printLate(line, 500))))
  const got = container.read()
  await expect.poll(() => got).toEqual(['1', '2', '3'])
  await printed.promise
  container.print('4')
  await expect.poll(() => got.at(-1)).toBe('4')
  expect(got).toEqual(['1', '2', '3', '4'])
})

test.each(['', 'ed'])(
  'a line that had silently begun before the reader came is complete: %j is its end',
  async (end) => {
    const container = new Container()
    const got = container.read()
    await expect.poll(() => container.readings).toBe(2)
    container.end('begun, and end', end)
    container.print('next')
    await expect.poll(() => got).toEqual([`begun, and end${end}`, 'next'])
  },
)

test('a line that had begun is complete on each stream, even long after the other one was joined', async () => {
  const container = new Container()
  container.print('known', at(Date.now() - 5_000))
  const got = container.read()
  await expect.poll(() => got).toEqual(['known'])
  container.end('output be', 'gun')
  await expect.poll(() => got.at(-1)).toBe('output begun')
  for (let n = 1; n <= 2_000; n++) container.print(String(n))
  await expect.poll(() => got.at(-1)).toBe('2000')
  const readings = container.readings
  container.end('errors be', 'gun', 'stderr')
  container.print('last')
  await expect.poll(() => got.at(-1)).toBe('last')
  expect(got).toEqual(['known', 'output begun', ...numbers(2_000), 'errors begun', 'last'])
  for (let n = 1; n <= 50; n++) container.print(String(n))
  await expect.poll(() => got.at(-1)).toBe('50')
  expect(container.readings - readings).toBeLessThan(25)
})

test('the end of a long run of a program that printed on only one stream needs no reading of its whole log', async () => {
  const container = new Container()
  container.print('known', at(Date.now() - 120_000))
  const got = container.read()
  await expect.poll(() => got).toEqual(['known'])
  container.print('met')
  await expect.poll(() => got.at(-1)).toBe('met')
  for (let n = 1; n <= 5_000; n++) container.print(String(n))
  await expect.poll(() => got.at(-1)).toBe('5000')
  const { linesRead } = container
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  container.log.push({ ts: now(), stream: 'stderr', line: 'last words' })
  container.stop()
  await expect.poll(() => got.at(-1)).toBe('last words')
  expect(container.linesRead - linesRead).toBeLessThan(2_000)
  expect(got).toEqual(['known', 'met', ...numbers(5_000), 'last words'])
})

test('the log of a paused container is read more and more rarely', async () => {
  const container = new Container()
  const known = numbered(container, 5, Date.now() - 60_000, 5)
  container.isPaused = true
  container.read(known)
  await delay(2_500)
  expect(container.readings).toBeLessThan(6)
})

test('a container that is looked for while it is created again is followed once it exists', async () => {
  const container = new Container()
  container.isThere = false
  const got = container.follow()
  await expect.poll(() => container.misses).toBeGreaterThan(0)
  container.isThere = true
  container.print('anew')
  await expect.poll(() => got).toEqual(['anew'])
})

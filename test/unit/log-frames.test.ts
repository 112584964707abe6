import { expect, test } from 'vitest'
import { DOCKER_PIECE_BYTES, LogFrames } from '../../daemon/engine/log-frames.ts'
import { toLogLine } from '../../daemon/logs/follow.ts'

function frame(type: number, text: string): Buffer {
  const header = Buffer.alloc(8)
  header[0] = type
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

const TIME = '2026-01-01T00:00:00.123456789Z'
/** What Docker logs of a longer line at once. */
const PIECE = 'x'.repeat(DOCKER_PIECE_BYTES)

test('what the engine itself says in a log is a separate line, at the time of the line before', () => {
  const frames = new LogFrames()
  const lines = [
    ...frames.push(frame(1, `${TIME} ${PIECE}`)),
    ...frames.push(frame(3, 'Error grabbing logs: invalid character\n')),
    ...frames.push(frame(1, `${TIME} and ended\n`)),
  ]
  expect(lines).toEqual([
    { ts: TIME, stream: 'stderr', line: 'Error grabbing logs: invalid character' },
    { ts: TIME, stream: 'stdout', line: PIECE },
  ])
})

test('lines are the same wherever the stream is cut into pieces', () => {
  const stream = Buffer.concat([
    frame(1, `${TIME} one\n`),
    frame(2, `${TIME} ${PIECE}`),
    frame(1, `${TIME} ünï\n`),
    frame(2, `${TIME} whole\n`),
  ])
  const whole = new LogFrames().push(stream)
  expect(whole.map(({ line }) => line)).toEqual(['one', 'ünï', PIECE])
  for (let cut = 1; cut < stream.length; cut += cut < 100 || cut > PIECE.length ? 1 : 500) {
    const frames = new LogFrames()
    const lines = [...frames.push(stream.subarray(0, cut)), ...frames.push(stream.subarray(cut))]
    expect(lines, `cut at byte ${cut}`).toEqual(whole)
  }
})

test.each([
  [3, 'Error grabbing logs: x\n'],
  [1, 'Error grabbing logs: x\n'],
  [2, 'nothing'],
  [1, '2026-13-01T00:00:00Z not a time\n'],
  [2, '\n'],
])('a frame of type %i without a timestamp is a line with a time: %j', (type, text) => {
  const frames = new LogFrames()
  const [line] = [...frames.push(frame(type, text)), ...frames.end()]
  expect(line!.line).toBe(text.trimEnd())
  expect(toLogLine('srv', line!).ts).toMatch(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/)
})

test('a line in pieces of any length, as Podman logs them, is one', () => {
  const log = new LogFrames()
  const lines = ['Progress: ', '10% ', 'done\n', 'next\n'].flatMap((text) =>
    log.push(frame(1, `${TIME} ${text}`)),
  )
  expect(lines.map(({ line }) => line)).toEqual(['Progress: 10% done', 'next'])
})

test.each([0, DOCKER_PIECE_BYTES])('a long line in pieces of 16 KiB is one (%i)', (pieceBytes) => {
  const log = new LogFrames(null, pieceBytes)
  const lines = [PIECE, 'end\n', 'next\n'].flatMap((text) => log.push(frame(1, `${TIME} ${text}`)))
  expect(lines.map(({ line }) => line)).toEqual([PIECE, 'next'])
})

test("a last line without a newline is a line, and the output of the program's next run is another", () => {
  const log = new LogFrames(null, DOCKER_PIECE_BYTES)
  const lines = ['first words\n', 'last words', 'first words\n', 'last words', 'last words'].flatMap((text) =>
    log.push(frame(1, `${TIME} ${text}`)),
  )
  expect(lines.map(({ line }) => line)).toEqual([
    'first words',
    'last words',
    'first words',
    'last words',
    'last words',
  ])
  expect(log.end()).toEqual([])
})

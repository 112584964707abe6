import { expect, test } from 'vitest'
import { lineMatcher, storedLevel } from '#server/logs/filter.ts'
import { levelOf } from '#server/logs/level.ts'
import { storedLine, type LogLine } from '#server/logs/lines.ts'

test.each([
  ['error', '2026-01-01 10:00:00,123 - app - ERROR - no connection'],
  ['warn', '2026-01-01T10:00:00Z  WARN app::db: slow'],
  ['info', 'INFO:     Started server process [1]'],
  ['info', '[2026-01-01 10:00:00 +0000] [7] [INFO] Starting gunicorn'],
  ['error', '2026/01/01 10:00:00 [error] 7#7: *1 open() failed'],
  ['error', '2026-01-01 10:00:00.000 UTC [1] FATAL:  the database system is starting up'],
  ['error', 'npm ERR! code ELIFECYCLE'],
  ['warn', 'time="2026-01-01T10:00:00Z" level=warning msg="low on space"'],
  ['debug', 'ts=2026-01-01 level="debug" msg=hello'],
  ['error', '{"level":50,"time":1767225600000,"msg":"down"}'],
  ['warn', '{"time":"2026-01-01T10:00:00Z","level":"WARN","msg":"slow"}'],
  ['debug', '{"level":20,"msg":"an ERROR that is part of a message"}'],
  ['info', '{"msg":"the level is not said"}'],
  ['info', '{"message":"x","severity":"NOTICE"}'],
  ['error', 'error: bind: address already in use'],
  ['error', 'fail: Microsoft.Hosting.Lifetime[0]'],
  ['error', 'TypeError: undefined is not a function'],
  ['error', 'java.lang.IllegalStateException: no'],
  ['error', 'Traceback (most recent call last):'],
  ['warn', 'W0102 10:00:00.000000       1 reflector.go:324] watch closed'],
  ['info', 'GET /errors/404 200'],
  ['info', 'there was no error in 12 lines'],
  ['info', 'constructor: __proto__'],
  ['info', `${'-'.repeat(200)} ERROR`],
  ['info', ''],
] as const)('%s: %s', (level, text) => {
  expect(levelOf('stdout', text)).toBe(level)
  expect(storedLevel(storedLine(lineOf(text)).trimEnd())).toBe(level)
})

test('a line that says no level has that of its stream', () => {
  expect(levelOf('stderr', '    at main (app.js:1:1)')).toBe('error')
  expect(levelOf('stderr', 'INFO: started')).toBe('info')
  expect(levelOf('system', '9c0b1 exited with code 1; restarting it')).toBe('error')
  expect(levelOf('system', '12 lines were lost here: the disk did not take it')).toBe('warn')
  expect(levelOf('system', 'waiting for port 10000')).toBe('info')
  const request = (status: number) => JSON.stringify({ method: 'GET', path: '/ERROR', status, bytes: 1 })
  expect([200, 302, 404, 502].map((status) => levelOf('access', request(status)))).toEqual([
    ...['info', 'info', 'warn', 'error'],
  ])
})

test('colours do not hide the level of a stored line', () => {
  const stored = storedLine(lineOf('\u001b[32m10:00\u001b[0m \u001b[31mERROR\u001b[39m down')).trimEnd()
  expect(storedLevel(stored)).toBe('error')
})

test('only lines of the wanted levels match, together with a search', () => {
  const block = ['ERROR one', 'WARN two', 'three', 'ERROR four']
    .map((text) => storedLine(lineOf(text)))
    .join('')
  const filter = { since: null, until: null, stream: null, instances: null }
  const found = (levels: ('warn' | 'error')[], search: string | null) =>
    lineMatcher({ ...filter, levels, search: search === null ? null : { text: search } })(block).map(
      (line) => (JSON.parse(line) as LogLine).line,
    )
  expect(found(['error'], null)).toEqual(['ERROR one', 'ERROR four'])
  expect(found(['warn', 'error'], 'o')).toEqual(['ERROR one', 'WARN two', 'ERROR four'])
  expect(found(['error'], 'four')).toEqual(['ERROR four'])
})

function lineOf(line: string): LogLine {
  return {
    ts: '2026-01-01T00:00:00.000Z',
    stream: 'stdout',
    line,
    instance: 'srv-00000000000000000000-aaaaa',
  }
}

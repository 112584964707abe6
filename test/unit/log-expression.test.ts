import { expect, test } from 'vitest'
import { compileExpression, requiredText } from '#server/logs/expression.ts'
import { lineMatcher } from '#server/logs/filter.ts'

const LINES = [
  'GET /api/orders/42 200',
  'a needle-in-it 42',
  'A NEEDLE-IN-IT 42',
  'C:\\temp "quoted" (x|y) {2} [z]',
  'ſtrange \u212Aelvin',
  '\u001b[31mnee\u001b[0mdle-in-it',
  'Straße 😀😀 done',
  'aaab xxy',
  'x',
].map((line) => JSON.stringify({ ts: '2026-01-01T00:00:00.000Z', stream: 'stdout', line, instance: 'i' }))

const shown = (line: string) =>
  (JSON.parse(line) as { line: string }).line.replaceAll(/\u001b\[[\d;:]*m/g, '')

test.each([
  ['needle-in-[a-z]+ \\d+', 'needle-in-'],
  ['^GET /api/(?:orders|users)/\\d+ 200$', 'GET /api/'],
  ['C:\\\\temp', 'C:\\temp'],
  ['\\Q(x|y) {2}\\E \\[z', '(x|y) {2} [z'],
  ['\\Qabc\\E*d', 'ab'],
  ['a{2,}b x+y?z*', 'b x'],
  ['[[:alpha:]] 42', ' 42'],
  ['[]x]+-in-', '-in-'],
  ['needle|nothing', ''],
  ['(needle|hay)', ''],
  ['\\x41bc', ''],
  ['\\pLbc', ''],
  ['😀? done', ' done'],
  ['(?i)needle strange', 'needle '],
  ['.*', ''],
])('a line in which /%s/ is found contains: %s', (expression, text) => {
  expect(requiredText({ expression, ignoreCase: false })).toBe(text)
})

test.each([
  'needle-in-[a-z]+ \\d+',
  'C:\\\\temp',
  '\\Q(x|y) {2}\\E \\[z',
  'strange',
  'kelvin',
  'STRANGE KELVIN',
  'a{3}b x{2}y',
  'a+b x*y',
  'Straße 😀+ d',
  '😀?x?done',
  '[[:digit:]]{2}$',
  '"quoted"',
  'x',
  '(?i)NEEDLE',
  'nee.?dle',
])('the result of /%s/ does not depend on which text is looked for first', (expression) => {
  for (const ignoreCase of [false, true]) {
    const search = { expression, ignoreCase }
    const found = compileExpression(search)
    const matcher = lineMatcher({
      since: null,
      until: null,
      stream: null,
      instances: null,
      levels: null,
      search,
    })
    const wanted = LINES.filter((line) => found(shown(line)))
    // Together, and each alone: how a block is searched depends on what is in it.
    expect(matcher(`${LINES.join('\n')}\n`)).toEqual(wanted)
    expect(LINES.flatMap((line) => matcher(`${line}\n`))).toEqual(wanted)
  }
})

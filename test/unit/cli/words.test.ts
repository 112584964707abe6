import { describe, expect, test } from 'vitest'
import type { Command } from '../../../cli/command.ts'
import { commandsPage } from '../../../cli/page.ts'
import { COMMANDS } from '../../../cli/table/index.ts'
import { findCommand, readWords } from '../../../cli/words.ts'
import { wordsOf } from '../../support/terminal-lines.ts'

const TABLE: Command[] = [
  {
    name: 'jobs',
    group: 'Services',
    summary: '',
    examples: [],
    words: [{ name: 'service', isOptional: true }],
  },
  {
    name: 'jobs logs',
    aliases: ['joblogs'],
    group: 'Services',
    summary: '',
    examples: [],
    words: [{ name: 'id' }],
  },
  {
    name: 'logs',
    group: 'Services',
    summary: '',
    examples: [],
    words: [{ name: 'service', isOptional: true }],
    flags: [
      { name: 'follow', short: 'f', summary: '' },
      { name: 'lines', short: 'n', value: 'n', summary: '' },
      { name: 'env', value: 'K=V', repeats: true, summary: '' },
    ],
  },
  {
    name: 'run',
    group: 'Services',
    summary: '',
    examples: [],
    words: [{ name: 'service', isOptional: true }],
    takesCommand: true,
  },
  {
    name: 'scale',
    group: 'Services',
    summary: '',
    examples: [],
    words: [{ name: 'service', isOptional: true }, { name: 'n' }],
  },
  { name: 'stop', group: "The server's host", summary: '', examples: [], isOfServer: true },
]

function read(...argv: string[]) {
  const found = findCommand(TABLE, argv)
  if ('unknown' in found) return { unknown: found.unknown }
  const call = readWords(found.command, found.args)
  return { command: found.command.name, words: call.words, rest: call.rest, call }
}

function faultOf(...argv: string[]): { exitCode: number; message: string } {
  try {
    read(...argv)
  } catch (error) {
    return error as { exitCode: number; message: string }
  }
  throw new Error('it was taken')
}

describe('the command', () => {
  test.each([
    [['jobs'], 'jobs', []],
    [['jobs', 'web'], 'jobs', ['web']],
    [['jobs', 'logs', 'job-1'], 'jobs logs', ['job-1']],
    [['joblogs', 'job-1'], 'jobs logs', ['job-1']],
    [['--host', 'jobs', '-e', 'logs', 'jobs', 'web'], 'jobs', ['web']],
    [['-qe', 'staging', 'jobs', '--json', 'logs', 'job-1'], 'jobs logs', ['job-1']],
    [['--environment=staging', 'logs', 'web'], 'logs', ['web']],
  ])('is found among the flags of %j', (argv, command, words) => {
    expect(read(...argv)).toMatchObject({ command, words })
  })

  test('is never abbreviated', () => {
    expect(read('log')).toEqual({ unknown: 'log' })
    expect(read('--json')).toEqual({ unknown: null })
  })
})

describe('flags', () => {
  test.each([
    [['logs', '-fn', '5']],
    [['logs', '-f', '-n5']],
    [['-f', 'logs', '--lines', '5']],
    [['logs', '--lines=5', '--follow']],
    [['logs', '--lines', '4', '--lines=5', '-f']],
    [['--lines', '5', '-f', 'logs']],
    [['-fn', '5', 'logs', 'web']],
  ])('are joined, before and after the words: %j', (argv) => {
    // A flag of one command cannot stand before it when its value is a word: nothing says yet that it takes one.
    const { call } = read(...argv)
    expect([call!.has('follow'), call!.text('lines')]).toEqual([true, '5'])
  })

  test('may be the empty text, and given again where that means a list', () => {
    const { call } = read('logs', '--lines=', '--env', 'A=1', '--env=B=2')
    expect(call!.text('lines')).toBe('')
    expect(call!.texts('env')).toEqual(['A=1', 'B=2'])
  })

  test('end at --; what follows is a word, or belongs to another program', () => {
    expect(read('logs', '--', '-f')).toMatchObject({ words: ['-f'] })
    expect(read('run', 'web', '--', 'ls', '-l', '--', 'x')).toMatchObject({
      words: ['web'],
      rest: ['ls', '-l', '--', 'x'],
    })
    expect(read('run', 'web')).toMatchObject({ words: ['web'], rest: null })
  })
})

test('a word that may be left out may stand before one that must be there', () => {
  expect(read('scale', '3').words).toEqual(['3'])
  expect(read('scale', 'web', '3').words).toEqual(['web', '3'])
  expect(faultOf('scale')).toMatchObject({
    exitCode: 2,
    message: '<n> is missing. See deployer help scale.',
  })
})

describe('a wrong word is refused in one line with exit code 2, or 1 for a command of the host', () => {
  test.each([
    [['logs', '--folow'], 2, "Unknown option '--folow'. Did you mean --follow? See deployer help logs."],
    [['logs', '--conquer'], 2, "Unknown option '--conquer'. See deployer help logs."],
    [['logs', 'web', 'api'], 2, "Unexpected argument 'api'. See deployer help logs."],
    [['jobs', 'logs'], 2, '<id> is missing. See deployer help jobs logs.'],
    [['stop', '--host', 'x'], 1, "Unknown option '--host'. See deployer help stop."],
  ])('%j', (argv, exitCode, message) => {
    expect(faultOf(...argv)).toMatchObject({ exitCode, message })
  })

  test('a value that is missing', () => {
    expect(faultOf('logs', '--lines')).toMatchObject({
      exitCode: 2,
      message: expect.not.stringContaining('\n'),
    })
    expect(faultOf('logs', '--lines', '-1').message).toBe(
      "Option '--lines' takes a value; one that begins with - is written --lines=-value. See deployer help logs.",
    )
  })

  test('a token in the wrong place is not repeated', () => {
    const token = `dpl_${'0123456789'.repeat(4)}`
    expect(faultOf('logs', 'web', token).message).not.toContain(token)
    expect(faultOf('logs', `--${token}`).message).not.toContain(token)
  })
})

describe('the table', () => {
  test.each(COMMANDS.filter(({ isHidden }) => !isHidden).map((command) => [command.name, command] as const))(
    'says of %s what it does, with flags that are there once and examples that are read',
    (name, command) => {
      expect(command.summary).toMatch(/^[a-z].*[^.]$/)
      expect(name.split(' ').length).toBeLessThanOrEqual(2)
      const names = (command.flags ?? []).flatMap((flag) => [flag.name, flag.short ?? []].flat())
      expect(new Set(names).size).toBe(names.length)
      expect(command.examples.length).toBeGreaterThan(0)
      if (command.readsOwnWords) return
      for (const example of command.examples) {
        const found = findCommand(COMMANDS, wordsOf(example))
        expect(found).toMatchObject({ command: { name } })
        if ('command' in found) readWords(found.command, found.args)
      }
    },
  )

  test('has each name once', () => {
    const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

test('docs/cli-commands.md has every command as the table has it (vitest -u writes it)', async () => {
  await expect(commandsPage(COMMANDS)).toMatchFileSnapshot('../../../docs/cli-commands.md')
})

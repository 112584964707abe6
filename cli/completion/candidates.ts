import { parseArgs } from 'node:util'
import { flagsOf, type Command, type Completes, type Flag } from '../command.ts'
import { Call } from '../call.ts'
import { findCommand, optionsOf } from '../words.ts'
import { namesOf } from './names.ts'

/** What can stand in place of the last word, given those before it. Never fails: a shell has no place for an error. */
export async function candidates(table: readonly Command[], words: readonly string[]): Promise<string[]> {
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const found = findCommand(table, before)
  const listed = table.filter(({ isHidden }) => !isHidden)
  if ('unknown' in found) return beginning(last, commandWords(listed, before))
  const flags = flagsOf(found.command)
  const valued = flagBefore(flags, before)
  const inline = /^--([\w-]+)=(.*)$/s.exec(last)
  const call = callOf(found.command, before)
  if (valued) return beginning(last, await valuesOf(valued.completes, call))
  if (inline) {
    const flag = flags.find(({ name }) => name === inline[1])
    return beginning(
      last,
      (await valuesOf(flag?.completes, call)).map((value) => `--${inline[1]}=${value}`),
    )
  }
  if (last.startsWith('-')) return beginning(last, flagWords(flags))
  const position = wordsAmong(found.args, flags)
  // Such as `logs` after `deploys`, which is a command itself.
  const further = before.at(-1) === found.command.name ? familyOf(listed, found.command.name) : []
  const word = found.command.words?.[position] ?? found.command.words?.findLast(({ repeats }) => repeats)
  return beginning(last, [...further, ...(await valuesOf(word?.completes, call))])
}

function beginning(text: string, all: readonly string[]): string[] {
  return [...new Set(all)].filter((each) => each.startsWith(text))
}

/** Commands that can follow the words so far: first words, or second ones of a family. */
function commandWords(listed: readonly Command[], before: readonly string[]): string[] {
  const [first] = before.filter((word) => !word.startsWith('-'))
  if (first !== undefined) return familyOf(listed, first)
  return [...listed.map(({ name }) => name.split(' ')[0]!), 'help']
}

function familyOf(listed: readonly Command[], first: string): string[] {
  return listed
    .filter(({ name }) => name.startsWith(`${first} `))
    .map(({ name }) => name.slice(first.length + 1))
}

function flagWords(flags: readonly Flag[]): string[] {
  return flags.map(({ name }) => `--${name}`)
}

/** How many words there are that are neither flags nor their values. */
function wordsAmong(args: string[], flags: readonly Flag[]): number {
  return parseArgs({ args, options: optionsOf(flags), allowPositionals: true, strict: false }).positionals
    .length
}

/** The flag whose value the next word is. */
function flagBefore(flags: readonly Flag[], before: readonly string[]): Flag | undefined {
  const word = before.at(-1) ?? ''
  return flags.find(
    ({ name, short, value }) => value !== undefined && (word === `--${name}` || word === `-${short}`),
  )
}

async function valuesOf(completes: Completes | undefined, call: Call): Promise<readonly string[]> {
  if (completes === undefined || completes === 'file') return []
  return typeof completes === 'string' ? namesOf(completes, call) : completes
}

/** The words before, as far as they name a server and an environment. */
function callOf(command: Command, before: readonly string[]): Call {
  const flags = new Map<string, string[]>()
  for (const [index, word] of before.entries()) {
    const [, name, value] = /^--(host|environment|service|ca)(?:=(.*))?$/s.exec(word) ?? []
    if (name !== undefined) flags.set(name, [value ?? before[index + 1] ?? ''])
    else if (word === '-e' || word === '-s')
      flags.set(word === '-e' ? 'environment' : 'service', [before[index + 1] ?? ''])
  }
  return new Call(command, [], null, flags)
}

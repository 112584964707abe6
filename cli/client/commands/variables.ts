import { text as readAll } from 'node:stream/consumers'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { didYouMean } from '../../suggest.ts'
import { ask } from '../ask.ts'
import { printList } from '../columns.ts'
import { pairOf } from '../fields.ts'
import { shown } from '../secrets.ts'
import { holderOf, withValues, type Holder, type ShownVariable } from '../variables.ts'
import { withApi } from '../with-api.ts'

const HIDDEN = '••••'

/** Lists the variables of a service or a group; the values only with `--reveal`. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const isRevealed = call.has('reveal')
  const present = await withApi(call, async (api) =>
    (await holderOf(call, api, call.words[0] ?? null)).read(),
  )
  const variables: readonly ShownVariable[] = isRevealed ? withValues(present) : hidden(present)
  if (out.isJson) return out.json(variables)
  printList(out, variables, {
    columns: [
      { title: 'key', text: ({ key }) => key, isWhole: true },
      // A line is a variable: line ends are shown as they are written in strings.
      {
        title: 'value',
        text: ({ value }) => value?.replaceAll('\r', '\\r').replaceAll('\n', '\\n') ?? HIDDEN,
      },
    ],
    name: ({ key }) => key,
    emptyNote: 'There are no variables. deployer env set KEY=value sets one.',
  })
}

/** The variables as programs get them without their values. */
function hidden(variables: readonly ShownVariable[]): { key: string; value: null }[] {
  return variables.map(({ key }) => ({ key, value: null }))
}

/** Prints the value of a variable. */
export async function get(call: Call): Promise<void> {
  const [key, service] = call.words as [string, string?]
  const found = await withApi(call, async (api) => {
    const holder = await holderOf(call, api, service ?? null)
    const variables = await holder.read()
    return variables.find((variable) => variable.key === key) ?? missing(key, holder, variables)
  })
  if (call.out.isJson) call.out.json(found)
  else process.stdout.write(`${shown(found.value)}\n`)
}

function missing(key: string, { title }: Holder, variables: readonly ShownVariable[]): never {
  const hint = didYouMean(
    key,
    variables.map((variable) => variable.key),
  )
  throw new Fault(EXIT.notFound, `${title} has no variable ${key}${hint}`)
}

/** Sets variables; the value of a single key is asked for, or read from standard input. */
export async function set(call: Call): Promise<void> {
  const [first = ''] = call.words
  const isAsked = call.words.length === 1 && !first.includes('=')
  await withApi(call, async (api) => {
    const holder = await holderOf(call, api, null)
    const pairs = isAsked ? [[first, await valueFor(call, first)] as const] : pairsOf(call.words)
    const variables = await holder.change({ set: pairs.map(([key, value]) => ({ key, value })) })
    changed(call, `${listed(pairs.map(([key]) => key))} set in ${holder.title}`, variables)
    noteOldValues(call, holder)
  })
}

function pairsOf(words: readonly string[]): [key: string, value: string][] {
  const other = words.find((word) => !word.includes('='))
  if (other !== undefined && words.some((word) => word.includes('=')))
    throw wrong(`${other} is not written K=V; the service is named with --service`)
  return words.map(pairOf)
}

async function valueFor(call: Call, key: string): Promise<string> {
  if (call.mayAsk) return ask(`Value of ${key}:`, { isHidden: true, isExact: true })
  if (process.stdin.isTTY)
    throw wrong(`the value of ${key} cannot be asked here; write ${key}=…, or pass it on standard input`)
  return (await readAll(process.stdin)).replace(/\r?\n$/, '')
}

/** Removes variables, all or none. */
export async function unset(call: Call): Promise<void> {
  await withApi(call, async (api) => {
    const holder = await holderOf(call, api, null)
    const present = await holder.read()
    for (const key of call.words)
      if (!present.some((variable) => variable.key === key)) missing(key, holder, present)
    const variables = await holder.change({ unset: call.words })
    changed(call, `${listed(call.words)} removed from ${holder.title}`, variables)
    noteOldValues(call, holder)
  })
}

function listed(keys: readonly string[]): string {
  return `${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'}`
}

/** Says what is now: one line for people, the keys for programs. */
export function changed(call: Call, text: string | null, variables: readonly ShownVariable[]): void {
  if (call.out.isJson) call.out.json(hidden(variables))
  else if (text !== null) call.out.line(text)
}

/** Says who does not know of a change yet. */
export function noteOldValues(call: Call, { takesEffect }: Holder): void {
  if (!call.has('restart')) call.out.note(`Running instances have the old values until ${takesEffect}.`)
}

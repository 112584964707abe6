import { existsSync, realpathSync, statSync } from 'node:fs'
import type { EnvVar } from '#server/variables/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { ask, confirm } from '../ask.ts'
import { writeEnvFile } from '../env-file.ts'
import { writePrivate } from '../hosts.ts'
import { STANDARD_INPUT } from '../input.ts'
import { fileVariables, holderOf, withValues, type ShownVariable } from '../variables.ts'
import { withApi } from '../with-api.ts'
import { changed, noteOldValues } from './variables.ts'

const DEFAULT_FILE = '.env'
const STANDARD_OUTPUT = '-'

/** Writes the variables to a file that only this user can read. */
export async function pull(call: Call): Promise<void> {
  const { out } = call
  const [file = DEFAULT_FILE] = call.words
  const isPrinted = file === STANDARD_OUTPUT
  const path = isPrinted ? file : writablePath(file)
  if (!isPrinted && existsSync(path)) await confirmReplacement(call, file)
  const variables = withValues(await withApi(call, async (api) => (await holderOf(call, api, null)).read()))
  const { text, leftOut } = writeEnvFile(variables)
  if (!isPrinted) {
    write(path, text)
    const count = variables.length - leftOut.length
    out.done(`${file} has ${count} ${count === 1 ? 'variable' : 'variables'}`)
  } else if (out.isJson) out.json(variables)
  else process.stdout.write(text)
  if (leftOut.length > 0 && !(isPrinted && out.isJson))
    throw new Fault(
      EXIT.failed,
      `${leftOut.join(', ')}: no quotes of a .env file hold the value, so it is left out; see deployer env get`,
    )
}

/** The file itself, where the word is a link. Throws Fault for a folder or a device. */
function writablePath(file: string): string {
  if (!existsSync(file)) return file
  if (!statSync(file).isFile()) throw wrong(`${file} is not a file; ${STANDARD_OUTPUT} is standard output`)
  return realpathSync(file)
}

async function confirmReplacement(call: Call, file: string): Promise<void> {
  if (call.has('force') || call.has('yes')) return
  if (!call.mayAsk) throw wrong(`${file} exists; --force replaces it`)
  if (!/^y(es)?$/i.test(await ask(`${file} exists. Replace it? [y/N]`))) throw wrong('nothing was written')
}

function write(file: string, text: string): void {
  try {
    writePrivate(file, text)
  } catch (cause) {
    throw new Fault(EXIT.failed, `${file} cannot be written: ${(cause as Error).message}`, { cause })
  }
}

/** Sets what a file has; with `--replace` nothing else is left. */
export async function push(call: Call): Promise<void> {
  const { out } = call
  const [file = DEFAULT_FILE] = call.words
  const replaces = call.has('replace')
  const isAnswered = call.has('yes') || (call.mayAsk && file !== STANDARD_INPUT)
  if (replaces && !isAnswered) throw wrong('--replace removes what the file does not have; say --yes')
  const wanted = await fileVariables(call, file)
  await withApi(call, async (api) => {
    const holder = await holderOf(call, api, null)
    const present = await holder.read()
    const { lines, set } = difference(present, wanted, replaces)
    if (lines.length === 0) {
      out.note(`${holder.title} has these variables already.`)
      return changed(call, null, present)
    }
    if (!out.isJson) for (const line of lines) out.line(line)
    if (replaces) await confirm(call, `Replace the variables of ${holder.title}?`)
    changed(call, null, replaces ? await holder.replace(wanted) : await holder.change({ set }))
    noteOldValues(call, holder)
  })
}

/** What a push changes: a line for each key, without values, and the variables to set. */
function difference(
  present: readonly ShownVariable[],
  wanted: readonly EnvVar[],
  replaces: boolean,
): { lines: string[]; set: EnvVar[] } {
  // Without values, whatever the file has is set again.
  const before = new Map<string, string | null>(present.map(({ key, value }) => [key, value]))
  const after = new Set(wanted.map(({ key }) => key))
  const set = wanted.filter(({ key, value }) => before.get(key) !== value)
  const gone = replaces ? present.filter(({ key }) => !after.has(key)) : []
  return {
    lines: [
      ...set.map(({ key }) => `${before.has(key) ? '~' : '+'} ${key}`),
      ...gone.map(({ key }) => `- ${key}`),
    ],
    set,
  }
}

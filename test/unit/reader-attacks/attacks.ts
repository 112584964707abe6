import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_SETTINGS } from '#plans/index.ts'
import { chooseRecipe } from '../../../daemon/builds/choose-recipe.ts'

/** Quadratic work takes minutes on this much, which the time limit of a test calls a hang. */
const ATTACK_BYTES = 128 * 1024

/** A tree is checked in many small reads of the disk: while one attack waits for them, others are read. */
const AT_A_TIME = 4

const choice = {
  runtime: 'auto',
  dockerfilePath: null,
  type: null,
  publishDirectory: null,
  settings: { ...NO_SETTINGS, secretNames: ['A'] },
}

/** Runs that are tried again from each of their positions, in every division, or by every reader of a value. */
const RUNS = [
  '\n',
  ' ',
  '\t',
  '\r',
  'a',
  '1',
  '"',
  "'",
  '=',
  '[',
  '(',
  '/',
  '#',
  '-',
  '|',
  '>1 ',
  '/*',
  '<!--',
  '\na',
  ' \n',
  'x:\n',
].map((run) => run.repeat(Math.ceil(ATTACK_BYTES / run.length)))

/** Each run behind the beginning of what the reader looks for, before an end that does not fit: all divisions are tried. */
export function attacksInside(beginnings: string[]): string[] {
  return RUNS.flatMap((run) => beginnings.map((begin) => `${begin}${run}x`))
}

/** Each run alone, and behind a beginning up to the end of the file. */
export function attacksToTheEnd(beginnings: string[]): string[] {
  return RUNS.flatMap((run) => ['', ...beginnings].map((begin) => `${begin}${run}`))
}

let folder: string

/** Gives each test a folder of its own. */
export function useFolder(): void {
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'attack-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))
}

/** Writes a separate tree into the folder of the test; returns where it is. */
export async function writeTree(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(folder, 'tree-'))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  return directory
}

/** Chooses the recipe of a tree, as a deploy with no settings does. */
export function choose(directory: string) {
  return chooseRecipe({ place: { directory, folder: '' }, choice })
}

/** Tests each file of a tree: its name, beginnings of what is looked for in it, and files that make the reader look at it. */
export function attackEach(files: [string, string[], Record<string, string>][]): void {
  useFolder()

  test.each(files)('is checked at once: %s', (name, beginnings, others) =>
    judgeAll(name, others, attacksInside(beginnings)),
  )

  test.each(files)('is checked at once up to its end: %s', { tags: ['slow'] }, (name, beginnings, others) =>
    judgeAll(name, others, attacksToTheEnd(beginnings)),
  )
}

async function judgeAll(name: string, others: Record<string, string>, contents: string[]): Promise<void> {
  const left = contents.values()
  const judge = async (): Promise<void> => {
    for (const content of left) {
      const directory = await writeTree({ ...others, [name]: content })
      // A choice or an error, but an end.
      await choose(directory).catch((error: unknown) => expect(error).toMatchObject({ name: 'BuildFailure' }))
      await rm(directory, { recursive: true })
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, judge))
}

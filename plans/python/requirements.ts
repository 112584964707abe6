import { posix } from 'node:path'
import { withoutHashComments } from '../source/comments.ts'
import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { PLAIN_PATH } from '../steps.ts'
import { readEnvironment } from './conda.ts'
import { listedIn } from './listed.ts'

/** How many files a requirements file may include, itself counted. */
const MAX_FILES = 20

/** The requirements files of a tree. */
export interface Requirements {
  /** `requirements.txt` and the files that it includes; none without it. */
  files: string[]
  text: string
  /** Whether an installation reads these files and nothing else of the tree. */
  isPlain: boolean
}

/** Reads requirements.txt and the files that it includes (pip, "Requirements File Format"). */
export async function readRequirements(tree: Tree): Promise<Requirements> {
  const read: Requirements = { files: [], text: '', isPlain: true }
  await add(tree, 'requirements.txt', read)
  return read
}

async function add(tree: Tree, path: string, read: Requirements): Promise<void> {
  if (read.files.includes(path)) return
  const text = await tree.readText(path)
  read.isPlain &&= text !== null && read.files.length < MAX_FILES && PLAIN_PATH.test(path)
  if (text === null || read.files.length === MAX_FILES) return
  read.files.push(path)
  read.text += `${text}\n`
  for (const line of linesOf(text)) {
    const other = /^\s*(?:-r|-c|--requirement|--constraint)[= ]?\s*(\S+)/.exec(line)?.[1]
    if (other !== undefined) await add(tree, posix.join(posix.dirname(path), other), read)
    else read.isPlain &&= isPlain(line)
  }
}

/** A name, perhaps with extras, versions and conditions: whatever names a file has a slash. */
const BY_NAME = /^[A-Za-z\d][^/\\@]*$/
/** Endings by which pip takes a name for a file (pip, `is_archive_file`). */
const ARCHIVE = /^[^\s;[]*\.(?:whl|zip|tar|tgz|tbz|txz|tlz|tar\.\w+)(?:[\s;[]|$)/i
const BY_ADDRESS = /^(?:[A-Za-z\d][\w.-]*(?:\[[^\]]*\])?\s*@\s*)?(?:git\+|hg\+)?(?:https?|ssh):\/\/\S/
const OPTION =
  /^--(?:hash|no-binary|only-binary|prefer-binary|pre|require-hashes|trusted-host)\b[^/]*$|^(?:-i|--index-url|--extra-index-url)[= ]\s*https?:\S+$/

/**
 * Whether a line of requirements means the same without the rest of the tree: a package by its name or its address, or an
 * option about those. Everything else may be a file.
 */
export function isPlain(line: string): boolean {
  const written = withoutHashComments(line).trim()
  const text = written.endsWith('\\') ? written.slice(0, -1).trim() : written
  if (text === '' || OPTION.test(text) || BY_ADDRESS.test(text)) return true
  return BY_NAME.test(text) && !ARCHIVE.test(text)
}

/** Whether a project names a package among its requirements, by its lower-case name. */
export type NamesPackage = (name: string) => boolean

/** Reads which packages a project names: in its requirements, pyproject.toml and Pipfile, else in conda's list. */
export async function readNames(tree: Tree): Promise<NamesPackage> {
  const { text } = await readRequirements(tree)
  const project = await tree.readText('pyproject.toml')
  const others = [
    project === null ? null : await listedIn(project),
    await tree.readText('Pipfile'),
    await tree.readText('setup.py'),
  ]
  const isListed = text !== '' || others.some((each) => each !== null)
  if (!isListed) others.push((await readEnvironment(tree))?.text ?? null)
  const names = new Set<string>()
  const written = withoutHashComments([text, ...others].join('\n'))
  for (const [named] of written.matchAll(/(?<![^\s"'])[A-Za-z][\w.[-]*/g)) {
    const name = named.toLowerCase().replaceAll('_', '-')
    names.add(name.split('[', 1)[0]!)
    // FastAPI's extra includes its server.
    if (name === 'fastapi[standard' || name === 'fastapi[all') names.add('uvicorn')
  }
  return (name) => names.has(name)
}

import { posix } from 'node:path'
import { withoutHashComments } from '../source/comments.ts'
import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { readEnvironment } from './conda.ts'
import { listedIn } from './listed.ts'

/** How many files a requirements file may include, itself counted. */
const MAX_FILES = 20

/** Paths that a COPY line accepts as they are. */
const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/

/** The requirements files of a tree. */
export interface Requirements {
  /** `requirements.txt` and the files that it includes; none without it. */
  files: string[]
  text: string
  /** Whether they name the project itself, or archives or folders of the tree, which an installation reads too. */
  namesTree: boolean
}

/** Reads requirements.txt and the files that it includes (pip, "Requirements File Format"). */
export async function readRequirements(tree: Tree): Promise<Requirements> {
  const read: Requirements = { files: [], text: '', namesTree: false }
  await add(tree, 'requirements.txt', read)
  return read
}

async function add(tree: Tree, path: string, read: Requirements): Promise<void> {
  if (read.files.includes(path)) return
  const text = await tree.readText(path)
  if (text === null) return
  if (read.files.length === MAX_FILES || !PLAIN_PATH.test(path)) {
    read.namesTree = true
    return
  }
  read.files.push(path)
  read.text += `${text}\n`
  for (const line of linesOf(text)) {
    const other = /^\s*(?:-r|-c|--requirement|--constraint)[= ]?\s*(\S+)/.exec(line)?.[1]
    if (other !== undefined) await add(tree, posix.join(posix.dirname(path), other), read)
    else if (/^\s*(?:-e|--editable|--find-links|-f|\.|\/|file:)|@\s*file:/.test(line)) read.namesTree = true
  }
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

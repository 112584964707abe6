import { posix } from 'node:path'
import { linesOf, type Tree } from '#plans/index.ts'

/** What builds leave behind, which no repository holds: folders by their names, archives of Java by their endings. */
const OUTPUT_FOLDERS = new Set(['target', 'build', 'dist', 'out', 'publish'])
const ARCHIVE = /\.[jw]ar$/

/**
 * What a Dockerfile copies of a build that its author runs before it, and the source does not have: no image comes of such
 * a Dockerfile. Null where it copies nothing like that. `given` are variables that a service gives to the build.
 */
export async function missingOutput(
  tree: Tree,
  dockerfile: string,
  given: readonly string[],
): Promise<string | null> {
  for (const path of sourcesOf(dockerfile, given))
    if (isOutput(path) && !(await matches(tree, path))) return path
  return null
}

/** What lies beside a Dockerfile that has a folder to itself. */
const BESIDE_DOCKERFILE = /^(?:\..*|.*dockerfile.*|containerfile.*|.*compose.*|readme.*)$/i

/**
 * Whether a Dockerfile in a folder builds the source around that: by what it copies, or where it copies all, by a folder that
 * holds nothing else. One that copies nothing builds no source.
 */
export async function buildsAround(tree: Tree, folder: string, dockerfile: string): Promise<boolean> {
  if (!usedInstructions(dockerfile).some(copiesSource)) return false
  const own = tree.folder(folder)
  for (const path of sourcesOf(dockerfile, [])) {
    if (path === '.') continue
    if (await matches(tree, path)) return true
    if (await matches(own, path)) return false
  }
  return (await own.list('.')).every((name) => BESIDE_DOCKERFILE.test(name))
}

/** Whether an instruction copies what is in no other stage or image, and no text that stands in the file. */
function copiesSource([instruction, ...words]: readonly string[]): boolean {
  if (instruction !== 'COPY' && instruction !== 'ADD') return false
  return !words.some((word) => word.startsWith('--from') || word.includes('<<'))
}

/** The paths of the source that the instructions of a Dockerfile copy. */
function* sourcesOf(dockerfile: string, given: readonly string[]): Generator<string> {
  const variables = new Map<string, string>()
  for (const each of usedInstructions(dockerfile)) {
    const [instruction, ...words] = each
    if (instruction === 'ARG') {
      const [, name, value] = /^(\w+)=["']?([^"'\s]*)["']?$/.exec(words[0] ?? '') ?? []
      if (name !== undefined && !given.includes(name)) variables.set(name, value!)
    }
    // A list is not read.
    if (!copiesSource(each) || words.some((word) => word.startsWith('['))) continue
    for (const source of words.filter((word) => !word.startsWith('--')).slice(0, -1)) {
      const path = pathOf(source, variables)
      if (path !== null) yield path
    }
  }
}

/** The instructions before the stages, and of those that the last one is made of: others are never built. */
function usedInstructions(dockerfile: string): string[][] {
  const stages: string[][][] = [[]]
  for (const words of instructionsOf(dockerfile)) {
    if (words[0] === 'FROM') stages.push([])
    stages.at(-1)!.push(words)
  }
  const used = new Set([0])
  const left = [stages.length - 1]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (used.has(at)) continue
    used.add(at)
    for (const name of stages[at]!.flatMap(namedBy)) {
      const before = stages.slice(0, at)
      const found = before.findLastIndex(([from]) => nameOf(from ?? []) === name)
      const numbered = /^\d+$/.test(name) ? Number(name) + 1 : -1
      left.push(...[found, numbered].filter((each) => each > 0 && each < at))
    }
  }
  return stages.filter((_stage, index) => used.has(index)).flat()
}

/** What an instruction takes from other stages: its base, `--from=` and the `from=` of a mount, in lower case. */
function namedBy([instruction, ...words]: string[]): string[] {
  if (instruction === 'FROM')
    return words
      .filter((word) => !word.startsWith('--'))
      .slice(0, 1)
      .map(lower)
  return words.flatMap((word) => {
    const name = word.startsWith('--') ? /[-,=]from=([\w.-]+)/.exec(word)?.[1] : undefined
    return name === undefined ? [] : [lower(name)]
  })
}

/** The name of a stage by its FROM, in lower case. */
function nameOf([, ...words]: string[]): string | undefined {
  return words.filter((word) => !word.startsWith('--'))[2]?.toLowerCase()
}

function lower(text: string): string {
  return text.toLowerCase()
}

/** The instructions of a Dockerfile as words, those that go on over several lines too, without the texts in it. */
function* instructionsOf(dockerfile: string): Generator<string[]> {
  let begun = ''
  let ends: string[] = []
  for (const line of linesOf(dockerfile)) {
    const text = line.trim()
    if (ends.length > 0) {
      if (text === ends[0]) ends = ends.slice(1)
      continue
    }
    if (text.startsWith('#')) continue
    if (text.endsWith('\\')) {
      begun += `${text.slice(0, -1)} `
      continue
    }
    const [instruction = '', ...words] = `${begun}${text}`.split(/[ \t]+/)
    begun = ''
    yield [instruction.toUpperCase(), ...words]
    if (OF_TEXTS.has(instruction.toUpperCase())) ends = words.flatMap((word) => TEXT.exec(word)?.[1] ?? [])
  }
}

/** What takes texts that stand in the file, and how those begin (Dockerfile reference, "Here-documents"). */
const OF_TEXTS = new Set(['RUN', 'COPY', 'ADD'])
const TEXT = /^\d*<<-?["']?([\w.]+)["']?$/

/** A source in the tree with the values of its variables; null where one of them is not known, or it is no path. */
function pathOf(source: string, variables: ReadonlyMap<string, string>): string | null {
  const text = source.replace(/\$\{(\w+)\}|\$(\w+)/g, (all, braced?: string, bare?: string) => {
    return variables.get(braced ?? bare ?? '') ?? all
  })
  const path = posix.normalize(text.replace(/^(?:\.?\/)+/, ''))
  return /^[\w.*-]+(?:\/[\w.*-]+)*\/?$/.test(path) && !path.startsWith('..') ? path : null
}

function isOutput(path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return OUTPUT_FOLDERS.has(path) || folders.some((name) => OUTPUT_FOLDERS.has(name)) || ARCHIVE.test(path)
}

/** Whether a path, whose last part may have wildcards, is there; one with others is taken to be. */
async function matches(tree: Tree, path: string): Promise<boolean> {
  const folder = posix.dirname(path)
  const name = posix.basename(path)
  if (folder.includes('*')) return true
  if (!name.includes('*')) return (await tree.hasFile(path)) || (await tree.hasFolder(path))
  const parts = name.split('*')
  const names = (await tree.list(folder)).map((each) => each.replace(/\/$/, ''))
  return names.some((each) => each.startsWith(parts[0]!) && each.endsWith(parts.at(-1)!))
}

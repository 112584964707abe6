import { posix } from 'node:path'
import { linesOf, type Tree } from '#plans/index.ts'

/** Build output that repositories do not contain: folders by their names, Java archives by their extensions. */
const OUTPUT_FOLDERS = new Set(['target', 'build', 'dist', 'out', 'publish'])
const ARCHIVE = /\.[jw]ar$/

/**
 * The build output that a Dockerfile copies but the source lacks, since its author runs that build beforehand: such a
 * Dockerfile cannot be built. Null if it copies nothing like that. `given` are the variables that a service gives to the
 * build.
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

/** Files that may be next to a Dockerfile that has a folder of its own. */
const BESIDE_DOCKERFILE = /^(?:\..*|.*dockerfile.*|containerfile.*|.*compose.*|readme.*)$/i

/**
 * Whether a Dockerfile in a folder builds the source around that folder. It does if it copies files from there, or if it
 * copies everything and its folder contains nothing else. A Dockerfile that copies nothing builds no source.
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

/** Whether an instruction copies from the source, and not from another stage or image, nor a here-document. */
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
    // The JSON form is not parsed.
    if (!copiesSource(each) || words.some((word) => word.startsWith('['))) continue
    for (const source of words.filter((word) => !word.startsWith('--')).slice(0, -1)) {
      const path = pathOf(source, variables)
      if (path !== null) yield path
    }
  }
}

/** The instructions before the first stage, and of the stages that the last one needs; others are never built. */
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

/** The stages that an instruction uses, in lower case: its base, `--from=` and the `from=` of a mount. */
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

/** The name that a FROM gives its stage, in lower case. */
function nameOf([, ...words]: string[]): string | undefined {
  return words.filter((word) => !word.startsWith('--'))[2]?.toLowerCase()
}

function lower(text: string): string {
  return text.toLowerCase()
}

/** The instructions of a Dockerfile as words, with continued lines joined and without here-documents. */
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
    if (WITH_HEREDOC.has(instruction.toUpperCase()))
      ends = words.flatMap((word) => HEREDOC.exec(word)?.[1] ?? [])
  }
}

/** The instructions that take here-documents, and how those begin (Dockerfile reference, "Here-documents"). */
const WITH_HEREDOC = new Set(['RUN', 'COPY', 'ADD'])
const HEREDOC = /^\d*<<-?["']?([\w.]+)["']?$/

/** A copied path with its variables expanded; null if a variable is not known, or the result is not a path. */
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

/** Whether a path exists, with wildcards in its last part; a path with wildcards elsewhere is assumed to. */
async function matches(tree: Tree, path: string): Promise<boolean> {
  const folder = posix.dirname(path)
  const name = posix.basename(path)
  if (folder.includes('*')) return true
  if (!name.includes('*')) return (await tree.hasFile(path)) || (await tree.hasFolder(path))
  const parts = name.split('*')
  const names = (await tree.list(folder)).map((each) => each.replace(/\/$/, ''))
  return names.some((each) => each.startsWith(parts[0]!) && each.endsWith(parts.at(-1)!))
}

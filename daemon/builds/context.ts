import { posix } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { BUILD_STEP, BUILD_STEP_FILE, MANIFESTS_FOLDER, Tree } from '#plans/index.ts'
import { readDockerfile } from './dockerfile.ts'
import { IgnoreRules } from './dockerignore.ts'
import { Packer } from './packer.ts'

/** What defines a build: a Dockerfile of the source, or one that a language plan wrote. */
export type BuildFile =
  /** `frontend` is the minor version of the engine's own Dockerfile frontend, if it is known. */
  | { kind: 'tree'; path: string; frontend?: number }
  /** A Dockerfile outside the folder that is built, with the text of its own ignore file. */
  | { kind: 'outside'; path: string; content: string; ignore: string | null; notes: string[] }
  /** The tree is then below `SOURCE_FOLDER` in the context, so that no `COPY` of it includes the Dockerfile. */
  | { kind: 'plan'; content: string; ignore: string[]; manifests: Record<string, string> }

/** What goes into a build context: the part of a tree, and further files. */
interface Context {
  /** Files whose content differs from the tree's, or that it lacks; the context has them whatever the rules say. */
  replaced: Map<string, string>
  rules: IgnoreRules
  /** What the build's log should say about the context. */
  notes: string[]
}

/** The files that define a build and are not part of its context. */
export interface SeparateFiles {
  /** The Dockerfile's text. */
  content: string
  /** The text of `.dockerignore`, if that is part of the context. */
  ignore: string | null
}

/** The folder of a plan's context that holds the source. */
const SOURCE_FOLDER = 'source'

/** The name that a Dockerfile from outside the context gets in it. */
const OUTSIDE_FILE = '.deployer.Dockerfile'
/** A larger file is not an ignore file. */
const MAX_IGNORE_FILE_BYTES = 1024 * 1024
const IGNORE_FILES = ['.dockerignore', '.containerignore']

/** The path of the Dockerfile in the context. */
export function dockerfilePathOf(file: BuildFile): string {
  if (file.kind === 'plan') return 'Dockerfile'
  return file.kind === 'outside' ? OUTSIDE_FILE : posix.normalize(file.path)
}

/** Reads what defines a context. Throws BuildFailure for a Dockerfile or ignore file that is missing or cannot be read. */
export async function readContext(tree: Tree, file: BuildFile): Promise<Context> {
  const path = dockerfilePathOf(file)
  if (file.kind === 'plan') {
    const replaced = new Map([
      [path, file.content],
      [BUILD_STEP_FILE, BUILD_STEP],
      ...Object.entries(file.manifests).map(([name, text]): [string, string] => [
        `${MANIFESTS_FOLDER}/${name}`,
        text,
      ]),
    ])
    return { replaced, ...(await readRules(tree, ['.dockerignore'], file.ignore)) }
  }
  if (file.kind === 'outside') {
    const ignoring =
      file.ignore === null
        ? await readRules(tree, IGNORE_FILES, [])
        : rulesOf(file.ignore, `${file.path}.dockerignore`, [])
    return {
      replaced: new Map([[path, file.content]]),
      ...ignoring,
      notes: [...file.notes, ...ignoring.notes],
    }
  }
  const { content, notes } = await readDockerfile(tree, path, file.frontend)
  const ignoring = await readRules(tree, [`${path}.dockerignore`, ...IGNORE_FILES], [])
  return {
    replaced: new Map([[path, content]]),
    rules: ignoring.rules,
    notes: [...notes, ...ignoring.notes],
  }
}

async function readRules(
  tree: Tree,
  candidates: string[],
  extra: string[],
): Promise<Pick<Context, 'rules' | 'notes'>> {
  for (const name of candidates) {
    const text = await tree.readText(name, MAX_IGNORE_FILE_BYTES)
    if (text === null) continue
    return rulesOf(text, name, extra)
  }
  return { rules: new IgnoreRules(extra.join('\n'), '.dockerignore'), notes: [] }
}

function rulesOf(text: string, name: string, extra: string[]): Pick<Context, 'rules' | 'notes'> {
  const rules = new IgnoreRules([text, ...extra].join('\n'), name)
  return { rules, notes: [`leaving out the files that ${name} lists`] }
}

/** The text of a Dockerfile's own ignore file; null if it has none. */
export function ownIgnoreFile(tree: Tree, path: string): Promise<string | null> {
  return tree.readText(`${path}.dockerignore`, MAX_IGNORE_FILE_BYTES)
}

/**
 * What the engine has to get apart from the context, so that no `COPY` includes a Dockerfile that is outside of it or that
 * the rules leave out; null when the Dockerfile is part of the context. Throws BuildFailure as `readContext` does.
 */
export async function readSeparateFiles({
  root,
  file,
}: {
  root: string
  file: BuildFile
}): Promise<SeparateFiles | null> {
  if (file.kind === 'plan') return null
  const tree = new Tree(root)
  const path = dockerfilePathOf(file)
  const { replaced, rules } = await readContext(tree, file)
  if (file.kind === 'tree' && !rules.leavesOut(path)) return null
  const ignore = rules.leavesOut('.dockerignore')
    ? null
    : await tree.readText('.dockerignore', MAX_IGNORE_FILE_BYTES)
  return { content: replaced.get(path)!, ignore }
}

/**
 * Packs a source tree as the engine's build context; with `isSeparate`, without the Dockerfile. Applies `.dockerignore`, since
 * the engine does not. Links stay links and are never followed; sockets and devices are left out. Names and order depend on
 * the tree alone: a walk by the bytes of the names, as BuildKit wants it. Returns notes for the build's log. Throws
 * BuildFailure for a tree that cannot be packed.
 */
export async function packContext(
  { root, file, isSeparate = false }: { root: string; file: BuildFile; isSeparate?: boolean },
  output: Writable,
): Promise<string[]> {
  const { replaced, rules } = await readContext(new Tree(root), file)
  if (isSeparate) replaced.clear()
  const archive = pack()
  const packer = new Packer(root, file.kind === 'plan' ? SOURCE_FOLDER : null, archive, rules, replaced)
  const packing = packer.run().then(
    (notes) => {
      archive.finalize()
      return notes
    },
    (error: unknown) => {
      archive.destroy(error instanceof Error ? error : new Error(String(error)))
      return []
    },
  )
  await pipeline(Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }), output)
  return await packing
}

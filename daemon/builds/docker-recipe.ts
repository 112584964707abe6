import { posix } from 'node:path'
import {
  directCommand,
  hasLine,
  linesOf,
  looksLikeBot,
  NOTHING_KNOWN,
  otherDockerfile,
  readHostFiles,
  releaseNote,
  startNote,
  type HostCommand,
  type ProcessType,
  type Tree,
} from '#plans/index.ts'
import { ownIgnoreFile, type BuildFile } from './context.ts'
import { readDockerfile } from './dockerfile.ts'
import { exposedPort } from './exposed-port.ts'
import type { Recipe, RecipeChoice } from './recipe.ts'
import { baseWithoutShell, namedImages } from './stages.ts'

const DEFAULT_DOCKERFILE = 'Dockerfile'

/** The obstacle for a site that is built by something no plan knows. */
export const UNKNOWN_FOLDER =
  'the folder to publish is not known: set publish_dir of a static_site to the folder that the build creates, such as dist, or give a start command'

/** A whole source, and the folder in it that is built; empty for all of it. */
interface Whole {
  tree: Tree
  folder: string
}

/**
 * The recipe by a tree's Dockerfile, if one is asked for or is decisive; else null. A Dockerfile with another name is used
 * only if it is asked for.
 */
export async function dockerRecipe(
  tree: Tree,
  whole: Whole,
  choice: RecipeChoice,
  processType: ProcessType,
): Promise<Recipe | null> {
  const { type, runtime, dockerfilePath, publishDirectory, settings, frontend } = choice
  const hosted = await readHostFiles(tree, { ...settings, processType }, null)
  const isWanted = runtime === 'docker' || dockerfilePath !== null
  const found = await dockerfileOf(tree, hosted.dockerfile)
  const other = isWanted && found === null ? await otherDockerfile(tree) : null
  const path = posix.normalize(dockerfilePath ?? found ?? other ?? DEFAULT_DOCKERFILE)
  const isSite = type === 'static_site'
  // The Dockerfile of a site usually serves it, so it builds the site only if it is asked for.
  const isTaken = runtime === 'auto' && !isSite && (await tree.hasFile(path))
  if (!isWanted && !isTaken) return null
  const outside = path.startsWith('../') ? await readOutside(whole, path, frontend) : null
  const { content } = outside ?? (await readDockerfile(tree, path))
  const notes = [`building with ${path}`]
  const base = baseWithoutShell(content)
  const start = adapted(hosted.start, base, startNote, notes)
  const release = adapted(hosted.release, base, releaseNote, notes)
  notes.push(...hosted.notes)
  if (hosted.dockerfile !== null && posix.normalize(hosted.dockerfile) !== path)
    notes.push(`a file for another host builds with ${hosted.dockerfile}: to use that, set dockerfile_path`)
  if (settings.aptPackages.length > 0)
    notes.push(`apt_packages are not installed: ${path} decides what the image contains`)
  const isWorker = type === null && !exposes(content) && (await looksLikeBot(tree))
  if (isWorker)
    notes.push(`${path} exposes no port, and its packages are those of a bot: this is a background_worker`)
  return {
    ...NOTHING_KNOWN,
    type: type ?? (isWorker ? 'background_worker' : 'web_service'),
    isWorker,
    runtime: 'docker',
    file: outside ?? { kind: 'tree', path, ...(frontend !== undefined && { frontend }) },
    needsWhole: false,
    declaredArguments: declaredIn(content, settings.secretNames),
    images: namedImages(content),
    startCommand: isSite ? null : (settings.startCommand ?? start),
    preDeployCommand: isSite ? null : release,
    healthCheckPath: isSite ? null : hosted.healthCheckPath,
    env: hosted.env,
    isSite,
    publishDirectory,
    port: exposedPort(content) ?? hosted.port,
    notes,
    obstacle: isSite && publishDirectory === null ? UNKNOWN_FOLDER : null,
  }
}

/** Reads a Dockerfile of the source that is outside the folder that is built. */
async function readOutside(
  { tree, folder }: Whole,
  path: string,
  frontend: number | undefined,
): Promise<Extract<BuildFile, { kind: 'outside' }>> {
  const inWhole = posix.join(folder, path)
  const read = await readDockerfile(tree, inWhole, frontend)
  return { kind: 'outside', path: inWhole, ignore: await ownIgnoreFile(tree, inWhole), ...read }
}

/** The Dockerfile in the usual place, else the one that a file for another host names; null if neither exists. */
async function dockerfileOf(tree: Tree, named: string | null): Promise<string | null> {
  if (await tree.hasFile(DEFAULT_DOCKERFILE)) return DEFAULT_DOCKERFILE
  return named !== null && (await tree.hasFile(named)) ? named : null
}

/** A file's command as the image can run it: without a shell if the image has none, as other hosts do with Dockerfiles. */
function adapted(
  said: HostCommand | null,
  base: string | null,
  noteOf: (said: HostCommand) => string,
  notes: string[],
): string | null {
  if (said === null) return null
  const command = base === null ? said.command : directCommand(said.command)
  notes.push(
    command === null
      ? `${said.file} says: ${said.command}: it is not used, because it needs a shell, which ${base} lacks`
      : noteOf({ ...said, command }),
  )
  return command
}

/** Whether a Dockerfile mentions a port at all. */
function exposes(dockerfile: string): boolean {
  return hasLine(dockerfile, /^\s*EXPOSE\b|\bPORT\b|^\s*HEALTHCHECK\b/i)
}

/** Those of `names` that ARG instructions declare; one line may declare several. */
function declaredIn(dockerfile: string, names: string[]): string[] {
  const declared = new Set<string>()
  for (const line of linesOf(dockerfile)) {
    const [instruction, ...words] = line.trim().split(/[ \t]+/)
    if (instruction?.toUpperCase() !== 'ARG') continue
    for (const word of words) declared.add(word.split('=', 1)[0]!)
  }
  return names.filter((name) => declared.has(name))
}

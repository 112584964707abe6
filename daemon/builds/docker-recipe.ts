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
import { baseWithoutShell } from './stages.ts'

const DEFAULT_DOCKERFILE = 'Dockerfile'

/** Stands in the way of a site that something builds which no plan knows. */
export const UNKNOWN_FOLDER =
  'it is not known which folder to publish: set publish_dir of a static_site to the folder that the build makes, such as dist, or give a start command'

/** A whole source, and its folder that is built; empty for all of it. */
interface Whole {
  tree: Tree
  folder: string
}

/** The recipe by a tree's Dockerfile, where one is asked for or decides; else null. One of another name only if asked for. */
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
  // A site's Dockerfile is most often one that serves it; only one that is asked for builds it.
  const isTaken = runtime === 'auto' && !isSite && (await tree.hasFile(path))
  if (!isWanted && !isTaken) return null
  const outside = path.startsWith('../') ? await readOutside(whole, path, frontend) : null
  const { content } = outside ?? (await readDockerfile(tree, path))
  const notes = [`building with ${path}`]
  const base = baseWithoutShell(content)
  const start = suited(hosted.start, base, startNote, notes)
  const release = suited(hosted.release, base, releaseNote, notes)
  notes.push(...hosted.notes)
  if (hosted.dockerfile !== null && posix.normalize(hosted.dockerfile) !== path)
    notes.push(`a file for another host builds with ${hosted.dockerfile}: set dockerfile_path for that`)
  if (settings.aptPackages.length > 0)
    notes.push(`apt_packages are not installed: ${path} says what the image has`)
  const isWorker = type === null && !exposes(content) && (await looksLikeBot(tree))
  if (isWorker)
    notes.push(`${path} exposes no port, and its packages are those of a bot: a background_worker`)
  return {
    ...NOTHING_KNOWN,
    type: type ?? (isWorker ? 'background_worker' : 'web_service'),
    isWorker,
    runtime: 'docker',
    file: outside ?? { kind: 'tree', path, ...(frontend !== undefined && { frontend }) },
    needsWhole: false,
    declaredArguments: declaredIn(content, settings.secretNames),
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

/** A Dockerfile of the source outside of the folder that is built. */
async function readOutside(
  { tree, folder }: Whole,
  path: string,
  frontend: number | undefined,
): Promise<Extract<BuildFile, { kind: 'outside' }>> {
  const inWhole = posix.join(folder, path)
  const read = await readDockerfile(tree, inWhole, frontend)
  return { kind: 'outside', path: inWhole, ignore: await ownIgnoreFile(tree, inWhole), ...read }
}

/** The Dockerfile in the usual place, else the one that a file for another host names; null where neither is there. */
async function dockerfileOf(tree: Tree, named: string | null): Promise<string | null> {
  if (await tree.hasFile(DEFAULT_DOCKERFILE)) return DEFAULT_DOCKERFILE
  return named !== null && (await tree.hasFile(named)) ? named : null
}

/** A command of a file as the image can run it: without a shell where there is none, as other hosts do with Dockerfiles. */
function suited(
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

/** Whether a Dockerfile speaks of a port at all. */
function exposes(dockerfile: string): boolean {
  return hasLine(dockerfile, /^\s*EXPOSE\b|\bPORT\b|^\s*HEALTHCHECK\b/i)
}

/** Those of `names` that stand after an ARG instruction; more than one may stand on a line. */
function declaredIn(dockerfile: string, names: string[]): string[] {
  const declared = new Set<string>()
  for (const line of linesOf(dockerfile)) {
    const [instruction, ...words] = line.trim().split(/[ \t]+/)
    if (instruction?.toUpperCase() !== 'ARG') continue
    for (const word of words) declared.add(word.split('=', 1)[0]!)
  }
  return names.filter((name) => declared.has(name))
}

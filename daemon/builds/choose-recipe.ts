import { join, posix } from 'node:path'
import { BuildFailure, dockerfileAside, otherDockerfile, Tree } from '#plans/index.ts'
import { readContext } from './context.ts'
import { buildsAround, missingOutput } from './copied.ts'
import { dockerRecipe } from './docker-recipe.ts'
import { readDockerfile } from './dockerfile.ts'
import { plannedRecipe, PROCESS_TYPES } from './planned-recipe.ts'
import type { Place, Recipe, RecipeChoice } from './recipe.ts'

/** Notes may quote a command of the tree, so they are cut. */
const MAX_NOTE_CHARACTERS = 2_000

/**
 * Chooses the recipe of a source from its files alone: `docker` uses the Dockerfile, a language its plan, `auto` the
 * Dockerfile when there is one, else the first plan that fits, else files that are a site as they are, else a Dockerfile
 * with another name or in a folder for it. A recipe with an `obstacle` cannot go live. Throws BuildFailure for an invalid
 * file.
 */
export async function chooseRecipe({
  place,
  choice,
}: {
  place: Place
  choice: RecipeChoice
}): Promise<Recipe> {
  const recipe = await new Chooser(place, choice).choose()
  const context = new Tree(recipe.needsWhole ? place.directory : join(place.directory, place.folder))
  const ignoring = recipe.file === null ? [] : (await readContext(context, recipe.file)).notes
  const notes = [...recipe.notes, ...ignoring].map((note) => note.slice(0, MAX_NOTE_CHARACTERS))
  const rootDirectories = recipe.rootDirectories.map((each) => posix.join(place.folder, each))
  return { ...recipe, notes, rootDirectories }
}

class Chooser {
  readonly #place: Place
  readonly #tree: Tree
  readonly #choice: RecipeChoice

  constructor(place: Place, choice: RecipeChoice) {
    this.#place = place
    this.#tree = new Tree(join(place.directory, place.folder))
    this.#choice = choice
  }

  async choose(): Promise<Recipe> {
    const docker = await this.#docker(this.#choice)
    if (docker === null) return (await this.#byOtherDockerfile()) ?? (await this.#byPlan())
    const missing = await this.#missing(docker)
    if (missing === null) return docker
    const what = `${missing.path} copies ${missing.output}, which is the output of a build and not in the source`
    const planned = await this.#deployable()
    if (planned?.file?.kind !== 'plan')
      return {
        ...docker,
        notes: [...docker.notes, `${what}: build it in an earlier stage and copy it from there`],
      }
    return { ...planned, notes: [`${what}, so ${notUsed(missing.path)}`, ...planned.notes] }
  }

  #docker(choice: RecipeChoice): Promise<Recipe | null> {
    const { directory, folder } = this.#place
    const whole = { tree: new Tree(directory), folder }
    return dockerRecipe(this.#tree, whole, choice, PROCESS_TYPES[choice.type ?? 'web_service'])
  }

  /** The recipe of a tree with a Dockerfile of another name, which is used if nothing else can be; null without one. */
  async #byOtherDockerfile(): Promise<Recipe | null> {
    const { type, runtime } = this.#choice
    const isLooked = runtime === 'auto' && type !== 'static_site'
    const other = isLooked ? await otherDockerfile(this.#tree) : null
    if (other === null) return null
    const planned = await this.#deployable()
    if (planned === null) return await this.#docker({ ...this.#choice, dockerfilePath: other })
    return { ...planned, notes: [...planned.notes, notUsed(other)] }
  }

  /** The recipe by a plan, with a note about a Dockerfile that may know more. */
  async #byPlan(): Promise<Recipe> {
    const planned = await plannedRecipe(this.#place, this.#choice)
    const isLooked = this.#choice.runtime === 'auto' && !planned.isSite
    const inFolder = isLooked ? await dockerfileAside(this.#tree) : null
    if (inFolder === null) return planned
    if (planned.runtime === null)
      return (await this.#byDockerfileInFolder(inFolder, planned.rootDirectories)) ?? planned
    return {
      ...planned,
      notes: [...planned.notes, `${inFolder} is not used: set dockerfile_path to build with it`],
    }
  }

  /**
   * The recipe by a Dockerfile in a folder for it, when no other folder of the source can be built; null if the Dockerfile
   * builds only its own folder.
   */
  async #byDockerfileInFolder(path: string, rootDirectories: readonly string[]): Promise<Recipe | null> {
    const folder = posix.dirname(path)
    if (rootDirectories.some((each) => each !== folder)) return null
    return await unlessRefused(async () => {
      const { content } = await readDockerfile(this.#tree, path)
      if (!(await buildsAround(this.#tree, folder, content))) return null
      return await this.#docker({ ...this.#choice, dockerfilePath: path })
    })
  }

  /** A recipe without a Dockerfile that can go live; null if there is none. */
  async #deployable(): Promise<Recipe | null> {
    const planned = await unlessRefused(() => plannedRecipe(this.#place, this.#choice))
    return planned?.obstacle === null ? planned : null
  }

  /** The build output that a Dockerfile which was not asked for needs and the source lacks. */
  async #missing({ file }: Recipe): Promise<{ path: string; output: string } | null> {
    const { runtime, dockerfilePath, settings } = this.#choice
    if (runtime !== 'auto' || dockerfilePath !== null || file?.kind !== 'tree') return null
    const { content } = await readDockerfile(this.#tree, file.path)
    const output = await missingOutput(this.#tree, content, settings.secretNames)
    return output === null ? null : { path: file.path, output }
  }
}

/** The recipe that `make` returns; null when it throws BuildFailure, since nobody asked for this way of building. */
async function unlessRefused(make: () => Promise<Recipe | null>): Promise<Recipe | null> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof BuildFailure) return null
    throw error
  }
}

function notUsed(path: string): string {
  return `${path} is not used: set runtime to docker to build with it`
}

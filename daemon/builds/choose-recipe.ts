import { join, posix } from 'node:path'
import type { ServiceType } from '#server/services/types.ts'
import { Tree } from '../sources/tree.ts'
import { readContext } from './context.ts'
import { buildsAround, missingOutput } from './copied.ts'
import { dockerRecipe, UNKNOWN_FOLDER } from './docker-recipe.ts'
import { dockerfileAside, otherDockerfile, readDockerfile } from './dockerfile.ts'
import { BuildFailure } from './failure.ts'
import { missingIndex, pagesIn } from './pages.ts'
import { findPlan, makePlan, nothingFits, type ChosenPlan } from './plans/index.ts'
import { readManifest } from './plans/node/manifest.ts'
import { NOTHING_KNOWN, type LanguagePlan, type ProcessType, type WholeSource } from './plans/plan.ts'
import { processTypes } from './plans/procfile.ts'
import type { Place, Recipe, RecipeChoice } from './recipe.ts'
import { readStaticFiles } from './static-files.ts'

/** What an image is for, by the type of its service. */
const PROCESS_TYPES = {
  web_service: 'web',
  private_service: 'web',
  background_worker: 'worker',
  cron_job: 'job',
  static_site: 'static',
} as const satisfies Record<ServiceType, ProcessType>

/** A note may repeat a command of the tree. */
const MAX_NOTE_CHARACTERS = 2_000

/**
 * Chooses the recipe of a source by its files alone: `docker` takes the Dockerfile, a language its plan, `auto` the
 * Dockerfile when there is one, else the first plan that fits, else files that are a site as they are, else a Dockerfile
 * of another name or in a folder for it. Its `obstacle` keeps it from going live. Throws BuildFailure for a file that
 * cannot be used as what it is.
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
  readonly #tree: Tree
  readonly #whole: WholeSource | null
  readonly #choice: RecipeChoice

  constructor({ directory, folder }: Place, choice: RecipeChoice) {
    this.#tree = new Tree(join(directory, folder))
    this.#whole = folder === '' ? null : { tree: new Tree(directory), folder }
    this.#choice = choice
  }

  async choose(): Promise<Recipe> {
    const docker = await this.#docker(this.#choice)
    if (docker === null) return (await this.#byOther()) ?? (await this.#besideOther())
    const missing = await this.#missing(docker)
    if (missing === null) return docker
    const what = `${missing.path} copies ${missing.output}, which a build makes and the source does not have`
    const planned = await this.#deployable()
    if (planned?.file?.kind !== 'plan')
      return {
        ...docker,
        notes: [...docker.notes, `${what}: build it in an earlier stage and copy it from there`],
      }
    return { ...planned, notes: [`${what}, so ${notUsed(missing.path)}`, ...planned.notes] }
  }

  #docker(choice: RecipeChoice): Promise<Recipe | null> {
    return dockerRecipe(this.#tree, choice, PROCESS_TYPES[choice.type ?? 'web_service'])
  }

  /** What a tree with a Dockerfile of another name is, which decides where nothing else can; null without one. */
  async #byOther(): Promise<Recipe | null> {
    const { type, runtime } = this.#choice
    const isLooked = runtime === 'auto' && type !== 'static_site'
    const other = isLooked ? await otherDockerfile(this.#tree) : null
    if (other === null) return null
    const planned = await this.#deployable()
    if (planned === null) return await this.#docker({ ...this.#choice, dockerfilePath: other })
    return { ...planned, notes: [...planned.notes, notUsed(other)] }
  }

  /** What a tree is by a plan, with word of a Dockerfile that may know more of it. */
  async #besideOther(): Promise<Recipe> {
    const planned = await this.#byPlan()
    const isLooked = this.#choice.runtime === 'auto' && !planned.isSite
    const aside = isLooked ? await dockerfileAside(this.#tree) : null
    if (aside === null) return planned
    if (planned.runtime === null) return (await this.#byAside(aside, planned.rootDirectories)) ?? planned
    return {
      ...planned,
      notes: [...planned.notes, `${aside} is not used: set dockerfile_path to build with it`],
    }
  }

  /** What a Dockerfile in a folder for it builds of a source without another folder to build; null where it builds its own. */
  async #byAside(path: string, rootDirectories: readonly string[]): Promise<Recipe | null> {
    const folder = posix.dirname(path)
    if (rootDirectories.some((each) => each !== folder)) return null
    return await unlessRefused(async () => {
      const { content } = await readDockerfile(this.#tree, path)
      if (!(await buildsAround(this.#tree, folder, content))) return null
      return await this.#docker({ ...this.#choice, dockerfilePath: path })
    })
  }

  /** What can go live without a Dockerfile; null for nothing. */
  async #deployable(): Promise<Recipe | null> {
    const planned = await unlessRefused(() => this.#byPlan())
    return planned?.obstacle === null ? planned : null
  }

  /** What a Dockerfile that nobody asked for wants of a build that went before it. */
  async #missing({ file }: Recipe): Promise<{ path: string; output: string } | null> {
    const { runtime, dockerfilePath, settings } = this.#choice
    if (runtime !== 'auto' || dockerfilePath !== null || file?.kind !== 'tree') return null
    const { content } = await readDockerfile(this.#tree, file.path)
    const output = await missingOutput(this.#tree, content, settings.secretNames)
    return output === null ? null : { path: file.path, output }
  }

  async #byPlan(): Promise<Recipe> {
    const { type, runtime, settings } = this.#choice
    const isStatic = runtime === 'static'
    const plan = await findPlan(isStatic ? 'auto' : runtime, this.#tree, settings)
    // Generators of sites that are programs of their own have the runtime of the files that they make.
    if (isStatic) return await this.#site(plan?.name === 'static' ? plan : null)
    if (type === 'static_site') return await this.#site(plan)
    const pages = runtime === 'auto' && settings.startCommand === null ? await pagesIn(this.#tree) : null
    if (plan === null) return pages === null ? await this.#nothing() : await this.#pages()
    const wanted = type ?? (await this.#typeOfProgram())
    const planned = await this.#make(plan, wanted)
    // Pages may lie beside a manifest that starts nothing, such as that of a tool that formats them.
    if (planned.obstacle !== null && !planned.isRefused && pages !== null) {
      if (!(await this.#isSource(plan, planned))) return await this.#pages()
      // The page of a framework is what its build makes a site of.
      const site = servesSites(wanted) ? planned : await this.#make(plan, 'web_service')
      if (site.isSite && type !== null) return this.#planned(type, site)
    }
    if (type === null && planned.isSite)
      return this.#planned('static_site', await this.#make(plan, 'static_site'))
    const isWorker = type === null && planned.isWorker && !(await processTypes(this.#tree)).has('web')
    return isWorker
      ? this.#planned('background_worker', await this.#make(plan, 'background_worker'))
      : this.#planned(wanted, planned)
  }

  /** A site that a plan builds, or files as they are. */
  async #site(plan: LanguagePlan | null): Promise<Recipe> {
    const { runtime, settings } = this.#choice
    if (plan === null && settings.buildCommand === null) return await this.#asItIs('static_site')
    if (plan === null) throw new BuildFailure((await nothingFits(this.#tree)).obstacle)
    const planned = await this.#make(plan, 'static_site')
    const isAsked = runtime !== 'auto' || settings.buildCommand !== null
    if (isAsked || buildsSite(planned)) return this.#planned('static_site', planned)
    const isProgram = this.#choice.publishDirectory === null && (await pagesIn(this.#tree)) === null
    const { startCommand, name } = isProgram ? await this.#make(plan, 'web_service') : planned
    const recipe = await this.#asItIs('static_site')
    if (!isProgram || startCommand === null) return recipe
    const obstacle = `this is no static site (${name} starts it with: ${startCommand}): deploy it as a web_service, or set publish_dir to the folder with the pages`
    return { ...recipe, publishDirectory: null, obstacle }
  }

  /** Whether the pages of a tree are what the build of a framework for browsers makes a site of. */
  async #isSource({ name }: LanguagePlan, { framework }: ChosenPlan): Promise<boolean> {
    if (framework === null || !OF_BROWSERS.has(name) || !(await this.#tree.hasFile('package.json')))
      return false
    return 'build' in (await readManifest(this.#tree)).scripts
  }

  /** Pages in the tree of what was not said to be a site. */
  async #pages(): Promise<Recipe> {
    const type = this.#choice.type ?? 'static_site'
    const recipe = await this.#asItIs(type)
    return servesSites(type) ? recipe : { ...recipe, obstacle: wrongType('its files as they are') }
  }

  async #asItIs(type: ServiceType): Promise<Recipe> {
    const { publishDirectory, settings } = this.#choice
    if (settings.buildCommand !== null) {
      throw new BuildFailure(
        'the runtime static takes the files as they are: clear build_command, or set runtime to auto',
      )
    }
    const folder = publishDirectory ?? (await pagesIn(this.#tree)) ?? '.'
    if (!(await this.#tree.hasFolder(folder)))
      throw new BuildFailure(`publish_dir ${folder} is no folder of the source: correct it`)
    const fault = await missingIndex(this.#tree, folder)
    const taking = folder === '.' ? 'taking the files as they are' : `taking ${folder} as it is`
    return {
      ...NOTHING_BUILT,
      type,
      runtime: 'static',
      isSite: true,
      publishDirectory: folder,
      singlePage: (await readStaticFiles(this.#tree)).singlePage,
      notes: fault === null ? [taking] : [taking, fault],
    }
  }

  async #nothing(): Promise<Recipe> {
    const fault = await nothingFits(this.#tree)
    const type = this.#choice.type ?? 'web_service'
    return { ...NOTHING_BUILT, type, runtime: null, notes: [fault.obstacle], ...fault }
  }

  /** What a plan makes, for a type of service. */
  #planned(type: ServiceType, plan: ChosenPlan): Recipe {
    const { name, dockerfile, ignore, manifests, ...facts } = plan
    const own = type === 'static_site' ? this.#choice.publishDirectory : null
    const publishDirectory = own ?? facts.publishDirectory
    const { isSite, framework, buildCommand } = facts
    const what = `${framework ?? name} builds ${publishDirectory === null ? 'it' : `to ${publishDirectory}`}`
    const obstacle =
      facts.obstacle ??
      (!isSite
        ? null
        : !servesSites(type)
          ? wrongType(what)
          : publishDirectory !== null
            ? null
            : UNKNOWN_FOLDER)
    return {
      ...facts,
      type,
      runtime: name,
      publishDirectory: isSite ? publishDirectory : null,
      preDeployCommand: isSite ? null : facts.preDeployCommand,
      healthCheckPath: isSite ? null : facts.healthCheckPath,
      file: { kind: 'plan', content: dockerfile, ignore, manifests },
      declaredArguments: [],
      notes: [
        `building with the plan for ${name}`,
        ...facts.notes,
        ...(isSite && buildCommand !== null && type === 'web_service'
          ? ['what it builds are files for browsers: they are served without a program']
          : []),
        ...(facts.isWorker && servesRequests(type) ? [NO_PORT] : []),
      ],
      obstacle,
    }
  }

  #make(plan: LanguagePlan, type: ServiceType): Promise<ChosenPlan> {
    const settings = { ...this.#choice.settings, processType: PROCESS_TYPES[type] }
    return makePlan(plan, this.#tree, settings, this.#whole)
  }

  async #typeOfProgram(): Promise<ServiceType> {
    const types = await processTypes(this.#tree)
    return types.has('worker') && !types.has('web') ? 'background_worker' : 'web_service'
  }
}

/** What is made of a source that nobody asked to be built so; null for files that cannot be used. */
async function unlessRefused(make: () => Promise<Recipe | null>): Promise<Recipe | null> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof BuildFailure) return null
    throw error
  }
}

const NOTHING_BUILT = { ...NOTHING_KNOWN, file: null, needsWhole: false, declaredArguments: [] }

/** Languages in which a build of a site is a build of nothing else. */
const OF_BROWSERS = new Set(['node', 'bun', 'deno'])

/** Whether a plan for a static site has something to build; plain files may lie beside programs of any language. */
function buildsSite({ name, buildCommand, publishDirectory }: ChosenPlan): boolean {
  return publishDirectory !== null || (OF_BROWSERS.has(name) && buildCommand !== null)
}

const NO_PORT =
  'its packages are those of a bot, which listens on no port: if so, make it a background_worker'

function notUsed(path: string): string {
  return `${path} is not used: set runtime to docker to build with it`
}

function servesRequests(type: ServiceType): boolean {
  return PROCESS_TYPES[type] === 'web'
}

/** The data plane has hosts for it. */
function servesSites(type: ServiceType): boolean {
  return type === 'web_service' || type === 'static_site'
}

function wrongType(what: string): string {
  return `this is a static site (${what}): change its type to static_site, or give a start command`
}

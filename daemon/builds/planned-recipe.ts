import { join } from 'node:path'
import type { ServiceType } from '#server/services/types.ts'
import {
  BuildFailure,
  detectLanguage,
  explainNoPlan,
  hasScript,
  NOTHING_KNOWN,
  pagesIn,
  planBuild,
  processTypes,
  readStaticFiles,
  Tree,
  type BuildPlan,
  type LanguagePlan,
  type ProcessType,
  type WholeSource,
} from '#plans/index.ts'
import { UNKNOWN_FOLDER } from './docker-recipe.ts'
import { missingIndex } from './missing-index.ts'
import type { Place, Recipe, RecipeChoice } from './recipe.ts'
import { namedImages } from './stages.ts'

/** What an image is used for, by the type of its service. */
export const PROCESS_TYPES = {
  web_service: 'web',
  private_service: 'web',
  background_worker: 'worker',
  cron_job: 'job',
  static_site: 'static',
} as const satisfies Record<ServiceType, ProcessType>

/**
 * The recipe of a source without a Dockerfile: the first plan that fits, else files that are a site as they are. Throws
 * BuildFailure for an invalid file.
 */
export async function plannedRecipe(place: Place, choice: RecipeChoice): Promise<Recipe> {
  return await new Planner(place, choice).plan()
}

class Planner {
  readonly #tree: Tree
  readonly #whole: WholeSource | null
  readonly #choice: RecipeChoice

  constructor({ directory, folder }: Place, choice: RecipeChoice) {
    this.#tree = new Tree(join(directory, folder))
    this.#whole = folder === '' ? null : { tree: new Tree(directory), folder }
    this.#choice = choice
  }

  async plan(): Promise<Recipe> {
    const { type, runtime, settings } = this.#choice
    const isStatic = runtime === 'static'
    const plan = await detectLanguage(isStatic ? 'auto' : runtime, this.#tree, settings)
    // Site generators that are standalone programs belong to the runtime of the files that they create.
    if (isStatic) return await this.#site(plan?.name === 'static' ? plan : null)
    if (type === 'static_site') return await this.#site(plan)
    const pages = runtime === 'auto' && settings.startCommand === null ? await pagesIn(this.#tree) : null
    if (plan === null) return pages === null ? await this.#nothing() : await this.#pages()
    const wanted = type ?? (await this.#typeOfProgram())
    const planned = await this.#make(plan, wanted)
    // Pages may be next to a manifest that starts nothing, such as that of a code formatter.
    if (planned.obstacle !== null && !planned.isRefused && pages !== null) {
      if (!(await this.#isSource(plan, planned))) return await this.#pages()
      // The pages of a framework are the input of its build.
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
    if (plan === null) throw new BuildFailure((await explainNoPlan(this.#tree)).obstacle)
    const planned = await this.#make(plan, 'static_site')
    const isAsked = runtime !== 'auto' || settings.buildCommand !== null
    if (isAsked || buildsSite(planned)) return this.#planned('static_site', planned)
    const isProgram = this.#choice.publishDirectory === null && (await pagesIn(this.#tree)) === null
    const { startCommand, name } = isProgram ? await this.#make(plan, 'web_service') : planned
    const recipe = await this.#asItIs('static_site')
    if (!isProgram || startCommand === null) return recipe
    const obstacle = `this is not a static site (${name} starts it with: ${startCommand}): deploy it as a web_service, or set publish_dir to the folder with the pages`
    return { ...recipe, publishDirectory: null, obstacle }
  }

  /** Whether the pages of a tree are the input of a front-end framework's build. */
  async #isSource({ name }: LanguagePlan, { framework }: BuildPlan): Promise<boolean> {
    return framework !== null && BROWSER_LANGUAGES.has(name) && (await hasScript(this.#tree, 'build'))
  }

  /** The recipe for pages in the tree of a service that was not declared a site. */
  async #pages(): Promise<Recipe> {
    const type = this.#choice.type ?? 'static_site'
    const recipe = await this.#asItIs(type)
    return servesSites(type) ? recipe : { ...recipe, obstacle: wrongType('its files as they are') }
  }

  async #asItIs(type: ServiceType): Promise<Recipe> {
    const { publishDirectory, settings } = this.#choice
    if (settings.buildCommand !== null) {
      throw new BuildFailure(
        'the runtime static uses the files as they are: clear build_command, or set runtime to auto',
      )
    }
    const folder = publishDirectory ?? (await pagesIn(this.#tree)) ?? '.'
    if (!(await this.#tree.hasFolder(folder)))
      throw new BuildFailure(`publish_dir ${folder} is not a folder of the source: correct it`)
    const fault = await missingIndex(this.#tree, folder)
    const taking = folder === '.' ? 'using the files as they are' : `using ${folder} as it is`
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
    const fault = await explainNoPlan(this.#tree)
    const type = this.#choice.type ?? 'web_service'
    return { ...NOTHING_BUILT, type, runtime: null, notes: [fault.obstacle], ...fault }
  }

  /** The recipe that a plan results in, for a type of service. */
  #planned(type: ServiceType, plan: BuildPlan): Recipe {
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
      images: namedImages(dockerfile),
      notes: [
        `building with the plan for ${name}`,
        ...facts.notes,
        ...(isSite && buildCommand !== null && type === 'web_service'
          ? ['the build output is files for browsers: they are served without a program']
          : []),
        ...(facts.isWorker && servesRequests(type) ? [NO_PORT] : []),
      ],
      obstacle,
    }
  }

  #make(plan: LanguagePlan, type: ServiceType): Promise<BuildPlan> {
    const settings = { ...this.#choice.settings, processType: PROCESS_TYPES[type] }
    return planBuild(plan, this.#tree, settings, this.#whole)
  }

  async #typeOfProgram(): Promise<ServiceType> {
    const types = await processTypes(this.#tree)
    return types.has('worker') && !types.has('web') ? 'background_worker' : 'web_service'
  }
}

const NOTHING_BUILT = { ...NOTHING_KNOWN, file: null, needsWhole: false, declaredArguments: [], images: [] }

/** Languages in which the build of a site builds nothing else. */
const BROWSER_LANGUAGES = new Set(['node', 'bun', 'deno'])

/** Whether a plan for a static site has something to build; plain files may be next to programs of any language. */
function buildsSite({ name, buildCommand, publishDirectory }: BuildPlan): boolean {
  return publishDirectory !== null || (BROWSER_LANGUAGES.has(name) && buildCommand !== null)
}

const NO_PORT =
  'its packages are those of a bot, which listens on no port: if it is one, change its type to background_worker'

function servesRequests(type: ServiceType): boolean {
  return PROCESS_TYPES[type] === 'web'
}

/** Whether the data plane has hosts for services of this type. */
function servesSites(type: ServiceType): boolean {
  return type === 'web_service' || type === 'static_site'
}

function wrongType(what: string): string {
  return `this is a static site (${what}): change its type to static_site, or give a start command`
}

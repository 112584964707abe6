import { appVariables } from './app-json.ts'
import { programsBelow, listFolders } from './subfolders.ts'
import { looksLikeBot } from './bots.ts'
import { readHostFiles } from './hosts/hosted.ts'
import { misnamedIn, unplannedIn } from './explain-no-plan.ts'
import { detectLanguage, explainNoPlan, runtimeOf } from './languages.ts'
import { hasScript } from './node/manifest.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { releaseCommand } from './procfile.ts'
import { registryVariables } from './registries.ts'
import { BuildFailure } from './source/failure.ts'
import { Tree } from './source/tree.ts'
import { withVariables } from './steps.ts'

/** What a plan makes of a tree, with the name of its language. */
export interface BuildPlan extends PlannedBuild {
  name: string
}

/** Plans the build of a tree that the language fits. Throws BuildFailure as the language's plan does. */
export async function planBuild(
  plan: LanguagePlan,
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<BuildPlan> {
  const hosted = await readHostFiles(tree, settings, async () => ({
    language: plan.name,
    own: await plan.plan(tree, settings, whole),
    isElsewhere: (await plan.buildsElsewhere?.(tree, settings, whole)) ?? false,
  }))
  const planned = await plan.plan(tree, hosted.settings, whole)
  const preDeployCommand = planned.preDeployCommand ?? hosted.preDeployCommand ?? (await releaseCommand(tree))
  const all = [
    ...planned.env,
    ...(await appVariables(tree)),
    ...(await registryVariables(tree)),
    ...hosted.env,
  ]
  const env = all.filter(({ key }, index) => all.findIndex((each) => each.key === key) === index)
  // A job states its own command, wherever its program is.
  const isProgram = settings.processType !== 'job' && TOOLING_LANGUAGES.has(plan.name)
  const unplanned = ASSET_LANGUAGES.has(plan.name) ? await unplannedProgram(planned, settings, tree) : null
  const obstacle = unplanned ?? planned.obstacle
  const isTooling = obstacle !== null && (planned.startCommand === null || unplanned !== null) && isProgram
  return {
    ...planned,
    ...(isTooling ? await withFolders(obstacle, planned.rootDirectories, tree) : {}),
    name: plan.name,
    isWorker:
      planned.isWorker || (planned.framework === null && !planned.isSite && (await looksLikeBot(tree))),
    preDeployCommand,
    healthCheckPath: hosted.healthCheckPath ?? planned.healthCheckPath,
    port: planned.port ?? hosted.port,
    dockerfile: withVariables(planned.dockerfile, hosted.variables),
    env,
    notes: [...planned.notes, ...hosted.notes, ...(await misnamedIn(tree))],
  }
}

/** Detects the language of the tree in `directory` and plans its build. Throws BuildFailure, also where no plan fits. */
export async function planDirectory(
  runtime: string,
  directory: string,
  settings: PlanSettings,
  whole: WholeSource | null = null,
): Promise<BuildPlan> {
  const tree = new Tree(directory)
  const plan = await detectLanguage(runtime, tree, settings)
  if (plan === null) throw new BuildFailure((await explainNoPlan(tree)).obstacle)
  return await planBuild(plan, tree, settings, whole)
}

/** Languages whose manifest often sits next to a program in another language, for its assets. */
const ASSET_LANGUAGES = new Set(['node', 'bun'])

/** A start command of a language without a plan: a built program in the tree, or the language's own tool. */
const UNPLANNED_COMMAND =
  /^(?:exec )?(?:\.\/(?!\S*\.sh\b)|bin\/|(?:dart|swift|crystal|Rscript|R|perl|plackup|stack|zig)\s)/
const NAMES_NODE = /\b(?:node|npm|npx|pnpm|yarn|bunx?|tsx|pm2)\b|\.[cm]?[jt]s\b|node_modules/

/**
 * Returns what to do about a package.json that starts nothing and belongs to a program in a language without a plan; null
 * where there is none.
 */
async function unplannedProgram(
  { framework, isSite, startCommand }: PlannedBuild,
  settings: PlanSettings,
  tree: Tree,
): Promise<string | null> {
  const isOwn =
    settings.startCommand !== null ||
    (startCommand !== null && (!UNPLANNED_COMMAND.test(startCommand) || NAMES_NODE.test(startCommand)))
  if (isOwn || framework !== null || isSite || (await hasScript(tree, 'start'))) return null
  const unplanned = await unplannedIn(tree)
  return unplanned === null ? null : `${unplanned.advice}, or a script "start", or set start_command`
}

/** Languages whose manifest in the root is often only for tooling, while the programs are in folders. */
const TOOLING_LANGUAGES = new Set(['node', 'bun', 'python', 'php', 'ruby'])

/** Adds the folders that can be built to an obstacle: the root may hold only the tools shared by all. */
async function withFolders(
  obstacle: string,
  known: string[],
  tree: Tree,
): Promise<Pick<PlannedBuild, 'obstacle' | 'rootDirectories'>> {
  const below = known.length > 0 ? [] : await programsBelow(tree, runtimeOf)
  if (below.length === 0) return { obstacle, rootDirectories: known }
  return {
    obstacle: `${obstacle}; or set root_dir to one of ${listFolders(below)}`,
    rootDirectories: below.map(({ folder }) => folder),
  }
}

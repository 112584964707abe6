import { appVariables } from './app-json.ts'
import { programsBelow, toldOf } from './below.ts'
import { seemsBot } from './bots.ts'
import { BuildFailure } from './failure.ts'
import { readHosted } from './hosts/hosted.ts'
import { detectLanguage, explainNoPlan, runtimeOf } from './languages.ts'
import { misnamedIn, unplannedIn } from './lacking.ts'
import { hasScript } from './node/manifest.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { releaseCommand } from './procfile.ts'
import { registryVariables } from './registries.ts'
import { withVariables } from './steps.ts'
import { Tree } from './tree.ts'

/** A plan that fits a tree, with the name of its language. */
export interface BuildPlan extends PlannedBuild {
  name: string
}

/** Makes a plan for the tree that it fits. Throws BuildFailure as the plan does. */
export async function planBuild(
  plan: LanguagePlan,
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<BuildPlan> {
  const hosted = await readHosted(tree, settings, async () => ({
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
  // A job says itself what it runs, wherever it lies.
  const isProgram = settings.processType !== 'job' && OF_TOOLS.has(plan.name)
  const unplanned = OF_ASSETS.has(plan.name) ? await unplannedProgram(planned, settings, tree) : null
  const obstacle = unplanned ?? planned.obstacle
  const isOfTools = obstacle !== null && (planned.startCommand === null || unplanned !== null) && isProgram
  return {
    ...planned,
    ...(isOfTools ? await withFolders(obstacle, planned.rootDirectories, tree) : {}),
    name: plan.name,
    isWorker: planned.isWorker || (planned.framework === null && !planned.isSite && (await seemsBot(tree))),
    preDeployCommand,
    healthCheckPath: hosted.healthCheckPath ?? planned.healthCheckPath,
    port: planned.port ?? hosted.port,
    dockerfile: withVariables(planned.dockerfile, hosted.variables),
    env,
    notes: [...planned.notes, ...hosted.notes, ...(await misnamedIn(tree))],
  }
}

/** Finds the plan for the tree in `directory` and makes it. Throws BuildFailure, also where none fits. */
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

/** Languages whose manifest lies beside programs of any other for their assets. */
const OF_ASSETS = new Set(['node', 'bun'])

/** A program that a build of another language leaves in the tree, or the tool of one. */
const OF_UNPLANNED =
  /^(?:exec )?(?:\.\/(?!\S*\.sh\b)|bin\/|(?:dart|swift|crystal|Rscript|R|perl|plackup|stack|zig)\s)/
const NAMES_NODE = /\b(?:node|npm|npx|pnpm|yarn|bunx?|tsx|pm2)\b|\.[cm]?[jt]s\b|node_modules/

/** What a package.json that starts nothing itself lies beside, where no plan is for that. */
async function unplannedProgram(
  { framework, isSite, startCommand }: PlannedBuild,
  settings: PlanSettings,
  tree: Tree,
): Promise<string | null> {
  const isOwn =
    settings.startCommand !== null ||
    (startCommand !== null && (!OF_UNPLANNED.test(startCommand) || NAMES_NODE.test(startCommand)))
  if (isOwn || framework !== null || isSite || (await hasScript(tree, 'start'))) return null
  const unplanned = await unplannedIn(tree)
  return unplanned === null ? null : `${unplanned.advice}, or a script "start", or set start_command`
}

/** Languages whose manifest in the root is often that of tools for what lies in its folders. */
const OF_TOOLS = new Set(['node', 'bun', 'python', 'php', 'ruby'])

/** What stands in a program's way may be that it lies in a folder, and the root has the tools of all. */
async function withFolders(
  obstacle: string,
  known: string[],
  tree: Tree,
): Promise<Pick<PlannedBuild, 'obstacle' | 'rootDirectories'>> {
  const below = known.length > 0 ? [] : await programsBelow(tree, runtimeOf)
  if (below.length === 0) return { obstacle, rootDirectories: known }
  return {
    obstacle: `${obstacle}; or set root_dir to one of ${toldOf(below)}`,
    rootDirectories: below.map(({ folder }) => folder),
  }
}

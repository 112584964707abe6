import { announceDeploy } from '#server/changes.ts'
import { advance } from '#server/deploys/progress.ts'
import { recordSetup } from '#server/deploys/setup.ts'
import { buildSecrets, takeSnapshot } from '#server/deploys/snapshot.ts'
import { deployMachine } from '#server/deploys/states.ts'
import { getDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { adoptVariables } from '#server/variables/generated.ts'
import { buildTree, recipeOf, type BuildRecipe } from '../builds/build.ts'
import { sourceOfDeploy } from '../builds/deploy-source.ts'
import type { Recipe } from '../builds/recipe.ts'
import { withSourceTree, type SourceTree } from '../builds/source-tree.ts'
import { publishBuilt, publishFolder } from '../sites/publish.ts'
import type { World } from '../world.ts'
import { buildSlots } from './build-slots.ts'
import { diskReason, lowFileSystem } from './disk-room.ts'
import { columnsOf, type Deployable } from './made.ts'

/**
 * Turns a deploy's source into what goes live: fetches it, detects how to build it, and builds it when there is a slot.
 * Files that need no build do not wait for a slot. Null if the deploy was canceled meanwhile, or is in the queue again.
 * Throws BuildFailure for faults of the source, its plan or its build.
 */
export async function makeFromSource(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Deployable | null> {
  // A deploy that must wait stays queued, so that a newer one of its service can supersede it.
  if (!buildSlots.isFull && !beginBuild(deploy)) return null
  log.steps.begin('source', 'Fetch the source')
  try {
    return await withSourceTree(sourceOfDeploy(service, deploy, log, signal), async (source) => {
      const recipe = await recipeOf(world, service, source, buildSecrets(service), log)
      adoptVariables(getService(service.id) ?? service, recipe.env, (line) => log.system(line))
      return hasBuild(recipe)
        ? await build(world, deploy, source, recipe, log, signal)
        : await publishFiles(deploy, source, recipe, log)
    })
  } catch (error) {
    // A fault of the source is recorded as `build_failed`, even if the deploy was never `building`.
    if (!signal.aborted) beginBuild(deploy)
    throw error
  }
}

function hasBuild(recipe: Recipe): recipe is BuildRecipe {
  return recipe.file !== null
}

async function build(
  world: World,
  deploy: DeployRow,
  source: SourceTree,
  recipe: BuildRecipe,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Deployable | null> {
  const service = getService(deploy.service_id)!
  const builder = { sequence: deploy.sequence }
  const hasToWait = buildSlots.isFull
  if (hasToWait) {
    log.steps.begin('slot', 'Wait for a build slot')
    await source.rest()
  }
  const release = await buildSlots.take(builder, (waiting) => wait(deploy, waiting, log), signal)
  try {
    if (hasToWait && (await isHeld(world, deploy, log))) return null
    if (!beginBuild(deploy)) return null
    const before = getService(service.id) ?? service
    const secrets = buildSecrets(before)
    recordSetup(deploy.id, before, 'run')
    const image = await buildTree(world, deploy, source, recipe, secrets, log, signal)
    if (recipe.isSite) {
      return (await publishBuilt(world, deploy, image, recipe, log, signal)) ? 'site' : null
    }
    const planned = {
      port: recipe.port,
      health_check_path: recipe.healthCheckPath,
      pre_deploy_command: recipe.preDeployCommand,
      start_command: recipe.file.kind === 'tree' ? recipe.startCommand : null,
    }
    const current = getService(service.id) ?? service
    const snapshot = takeSnapshot(current, image, planned)
    recordSetup(deploy.id, current, 'run')
    return startDeploying(deploy, snapshot, image.reference)
  } finally {
    release()
  }
}

function startDeploying(deploy: DeployRow, snapshot: Snapshot, image: string): Snapshot | null {
  const columns = { image, image_id: snapshot.image_id, ...columnsOf(snapshot) }
  return advance(deploy, 'deploying', columns) ? snapshot : null
}

async function publishFiles(
  deploy: DeployRow,
  source: SourceTree,
  recipe: Recipe,
  log: LogWriter,
): Promise<Deployable | null> {
  if (!beginBuild(deploy)) return null
  return (await publishFolder(deploy, source, recipe, log)) ? 'site' : null
}

/** Puts a deploy that finds no slot back into the queue, and logs what it waits for. */
function wait(deploy: DeployRow, waiting: string, log: LogWriter): void {
  log.system(waiting)
  if (tryMove(deployMachine, deploy.id, 'queued', { started_at: null }))
    announceDeploy(deploy.id, deploy.service_id)
}

/** Leaves a deploy to the queue if the disk has filled up while it waited for its slot. */
async function isHeld(world: World, deploy: DeployRow, log: LogWriter): Promise<boolean> {
  const low = await lowFileSystem(world)
  if (low === null || getDeploy(deploy.id)?.status !== 'queued') return false
  log.system(diskReason(low))
  return true
}

/** Moves a deploy to `building`; false if it was canceled meanwhile. */
function beginBuild(deploy: DeployRow): boolean {
  if (getDeploy(deploy.id)?.status === 'building') return true
  return advance(deploy, 'building', { started_at: Date.now() })
}

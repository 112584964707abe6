import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { dockerfilePathOf, packContext, type BuildFile } from '#daemon/builds/context.ts'
import { NO_SETTINGS, planDirectory, Tree, type BuildPlan, type PlanSettings } from '#plans/index.ts'
import { never, type Bench } from './engine-support.ts'

/** An image that a plan made. */
export interface PlannedImage {
  plan: BuildPlan
  image: string
  log: string
}

let builds = 0

/**
 * Builds the files with the plan that `auto` chooses for them, or for one of their folders; the build sees the variable
 * COLOUR.
 */
export async function buildPlanned(
  bench: Bench,
  directory: string,
  files: Record<string, string>,
  settings: Partial<PlanSettings> = {},
  folder?: string,
): Promise<PlannedImage> {
  await rm(directory, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  const whole = folder === undefined ? null : { tree: new Tree(directory), folder }
  const root = join(directory, folder ?? '')
  const plan = await planDirectory(
    'auto',
    root,
    { ...NO_SETTINGS, cacheScope: bench.serverId, secretNames: ['COLOUR'], ...settings },
    whole,
  )
  const file: BuildFile = {
    kind: 'plan',
    content: plan.dockerfile,
    ignore: plan.ignore,
    manifests: plan.manifests,
  }
  const tar = new PassThrough()
  const packing = packContext({ root: plan.needsWhole ? directory : root, file }, tar)
  const lines: string[] = []
  const image = await bench.engine.images
    .build(tar, {
      tag: `${bench.serverId}:plan-${++builds}`,
      dockerfile: dockerfilePathOf(file),
      secrets: { COLOUR: 'green' },
      signal: never(),
      onLine: (line) => lines.push(line),
    })
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${lines.slice(-30).join('\n')}`, { cause: error })
    })
  await packing
  return { plan, image, log: lines.join('\n') }
}

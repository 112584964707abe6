import type { Tree } from '../../sources/tree.ts'
import { frameworkOf, wordOf } from './node-frameworks.ts'
import { readManifest } from './node-manifest.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Programs for Bun, which its lock file or the field `packageManager` tells from those for node. */
export const bun: LanguagePlan = {
  name: 'bun',
  lookedFor: 'bun.lock with a package.json',
  detect: async (tree) => {
    const manifest = await tree.readText('package.json')
    if (manifest === null) return false
    if (/"packageManager"\s*:\s*"bun@/.test(manifest)) return true
    return (await tree.hasFile('bun.lock')) || (await tree.hasFile('bun.lockb'))
  },
  plan: makePlan,
}

const CACHES = ['/root/.bun/install/cache']
const ENTRY_FILES = ['index.ts', 'server.ts', 'src/index.ts', 'src/server.ts', 'index.js', 'server.js']

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const manifest = await readManifest(tree)
  const version = /^bun@(\d+\.\d+\.\d+)/.exec(manifest.packageManager ?? '')?.[1] ?? '1'
  const framework = await frameworkOf(tree, manifest)
  const entries = manifest.main === null ? ENTRY_FILES : [manifest.main, ...ENTRY_FILES]
  let entry: string | null = null
  for (const file of entries) {
    if (entry === null && /^[\w./@-]+\.[cm]?[jt]sx?$/.test(file) && (await tree.hasFile(file))) entry = file
  }
  const own =
    manifest.scripts.start !== undefined
      ? 'bun run start'
      : (framework?.start ?? (entry === null ? null : `bun run ${entry}`))
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    own,
    'add a script "start" to package.json, or a Procfile with a line "web:"',
  )
  const build = settings.buildCommand ?? (manifest.scripts.build === undefined ? null : 'bun run build')
  if (build !== null) notes.push(`building with: ${build}`)
  const image = baseImage(settings, `oven/bun:${version}`)
  const hasLock = (await tree.hasFile('bun.lock')) || (await tree.hasFile('bun.lockb'))
  const install = `bun install${hasLock ? ' --frozen-lockfile' : ''}`
  const dockerfile = [
    ...buildStage(image),
    'COPY source/ ./',
    step(install, settings, CACHES),
    'ENV NODE_ENV=production',
    ...(build === null ? [] : buildCommandSteps(build, settings, CACHES)),
    ...finalStage(
      image,
      [takeApp(), 'ENV NODE_ENV=production PATH=/app/node_modules/.bin:$PATH'],
      startCommand,
    ),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    framework: wordOf(framework),
    packageManager: 'bun',
    installCommand: install,
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: framework?.publishDirectory ?? null,
    ignore: ['.git', '**/node_modules'],
    notes: [`bun ${version}`, ...notes],
  }
}

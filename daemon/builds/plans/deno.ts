import type { Tree } from '../../sources/tree.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

const CONFIGURATIONS = ['deno.json', 'deno.jsonc']
const ENTRY_FILES = ['main.ts', 'server.ts', 'mod.ts', 'index.ts', 'src/main.ts', 'main.js', 'server.js']

/** Programs for Deno; such a tree may have a package.json beside its own configuration. */
export const deno: LanguagePlan = {
  name: 'deno',
  lookedFor: 'deno.json',
  detect: async (tree) => {
    for (const name of [...CONFIGURATIONS, 'deno.lock']) if (await tree.hasFile(name)) return true
    return false
  },
  plan: makePlan,
}

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const version = /^v?(\d+\.\d+\.\d+)$/.exec(((await tree.readText('.dvmrc')) ?? '').trim())?.[1] ?? null
  const text = (await Promise.all(CONFIGURATIONS.map((name) => tree.readText(name)))).join('\n')
  // Comments may stand in the file (JSONC), so the names of tasks are looked for as text.
  const tasks = /"tasks"\s*:\s*\{([^}]*)/.exec(text)?.[1] ?? ''
  let entry: string | null = null
  for (const file of ENTRY_FILES) if (entry === null && (await tree.hasFile(file))) entry = file
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    /"start"\s*:/.test(tasks) ? 'deno task start' : entry === null ? null : `deno run --allow-all ${entry}`,
    'add a task "start" to deno.json, or a main.ts',
  )
  const build = settings.buildCommand ?? (/"build"\s*:/.test(tasks) ? 'deno task build' : null)
  if (build !== null) notes.push(`building with: ${build}`)
  const image = baseImage(settings, `denoland/deno:debian${version === null ? '' : `-${version}`}`)
  const install = entry === null ? 'deno install' : `deno cache ${entry}`
  const dockerfile = [
    ...buildStage(image),
    // No cache mount: the program reads its packages from this folder when it runs.
    'ENV DENO_DIR=/app/.deno DENO_NO_UPDATE_CHECK=1',
    'COPY source/ ./',
    step(install, settings),
    ...(build === null ? [] : buildCommandSteps(build, settings)),
    ...finalStage(image, [takeApp(), 'ENV DENO_DIR=/app/.deno DENO_NO_UPDATE_CHECK=1'], startCommand),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    packageManager: 'deno',
    installCommand: install,
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git', '**/node_modules', '.deno'],
    notes: [`deno ${version ?? 'in its newest version'}`, ...notes],
  }
}

import type { PlanSettings } from '../plan.ts'
import type { Tree } from '../source/tree.ts'
import { baseImage, buildStage, step, type Mount } from '../steps.ts'
import { fromManifests, readInstallation } from './installation.ts'
import { choosePackageManager } from './manager.ts'
import { BUN_PACKAGE, type PackageManager } from './managers.ts'
import { readManifest } from './manifest.ts'
import { oldWebpackEnvironment } from './old-webpack.ts'
import { chooseNodeMajor } from './version.ts'

/** What node builds for a program in another language: styles and scripts for browsers. */
export interface Assets {
  manifests: Record<string, string>
  /** Stages before the build's own, in which packages are installed. */
  stages: string[]
  /** Lines that bring node into the build stage. */
  lines: string[]
  /** The packages, for commands that need them; they are in no layer. */
  mounts: Mount[]
  /** The command that builds the assets; none where package.json has no script for it. */
  commands: string[]
}

const NONE: Assets = { manifests: {}, stages: [], lines: [], mounts: [], commands: [] }

/** Plans what node builds for a program, with the first of some scripts that exists; nothing without a package.json. */
export async function readAssets(
  tree: Tree,
  settings: PlanSettings,
  notes: string[],
  scripts: readonly string[] = ['build'],
): Promise<Assets> {
  if (!(await tree.hasFile('package.json'))) return NONE
  const manifest = await readManifest(tree)
  const hasPackages = Object.keys(manifest.dependencies).length > 0
  const script = scripts.find((name) => name in manifest.scripts)
  if (!hasPackages && script === undefined) return NONE
  const major = await chooseNodeMajor([{ tree, manifest }], notes)
  const manager = await choosePackageManager(tree, new Map([['', manifest]]), notes)
  const installation = await readInstallation(tree, manifest, new Map(), manager, notes)
  notes.push(`node ${major} with ${manager.name} for the assets`)
  const environment = Object.entries(oldWebpackEnvironment([manifest], major, notes))
  return {
    manifests: installation.manifests,
    stages: [
      ...nodeStage(major, manager, settings),
      ...installation.copies,
      step(`(${fromManifests(manager.install, installation)}) && mkdir -p node_modules`, settings, [
        manager.cache,
      ]),
    ],
    lines: [...NODE_LINES, ...environment.map(([key, value]) => `ENV ${key}=${value}`)],
    mounts: [manager.cache, { stage: 'packages', folder: '/app/node_modules' }],
    commands: [
      ...(installation.needsSource ? [manager.reinstall] : []),
      ...(script === undefined ? [] : [manager.run(script)]),
    ],
  }
}

/**
 * Plans the build of a front end in a folder of the tree with a script of its package.json; nothing without one. Its
 * packages are left out of the image.
 */
export async function readFrontEnd(
  tree: Tree,
  folder: string,
  settings: PlanSettings,
  notes: string[],
  script = 'build',
): Promise<Assets> {
  const place = tree.folder(folder)
  const manifest = await readManifest(tree, `${folder}/package.json`)
  if (!(script in manifest.scripts)) return NONE
  const major = await chooseNodeMajor([{ tree: place, manifest }], notes)
  const manager = await choosePackageManager(place, new Map([['', manifest]]), notes)
  const environment = { ...manager.environment, ...oldWebpackEnvironment([manifest], major, notes) }
  notes.push(`node ${major} with ${manager.name} for ${folder}`)
  return {
    manifests: {},
    stages: nodeStage(major, manager, settings),
    lines: [...NODE_LINES, ...Object.entries(environment).map(([key, value]) => `ENV ${key}=${value}`)],
    mounts: [manager.cache],
    commands: [`(cd ${folder} && ${manager.install} && ${manager.run(script)} && rm -rf node_modules)`],
  }
}

/** Bring node into the build stage, from the stage with its packages. */
const NODE_LINES = [
  'COPY --from=packages /usr/local /opt/node',
  'ENV PATH=/opt/node/bin:$PATH npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false',
]

/** Begins the stage with node and the package manager. */
function nodeStage(major: number, manager: PackageManager, settings: PlanSettings): string[] {
  const brought = manager.name === 'bun' ? BUN_PACKAGE : manager.globalPackage
  const tools = brought === null ? [] : [`npm install --global --force ${brought}`]
  return [
    ...buildStage(baseImage(settings, `node:${major}-bookworm`), 'packages'),
    ...Object.entries(manager.environment).map(([key, value]) => `ENV ${key}=${value}`),
    ...tools.map((tool) => step(tool, settings, ['/root/.npm'])),
  ]
}

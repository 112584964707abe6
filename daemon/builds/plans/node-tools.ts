import type { Tree } from '../../sources/tree.ts'
import { choosePackageManager } from './node-managers.ts'
import { readManifest } from './node-manifest.ts'
import { chooseNodeMajor } from './node-version.ts'
import type { PlanSettings } from './plan.ts'
import { baseImage, step } from './steps.ts'

/** Puts node and the packages of the tree's package.json into the build stage of another language, for its assets. */
export async function nodeTools(tree: Tree, settings: PlanSettings, notes: string[]): Promise<string[]> {
  if (!(await tree.hasFile('package.json'))) return []
  const manifest = await readManifest(tree)
  const major = await chooseNodeMajor(tree, manifest, notes)
  const manager = await choosePackageManager(tree, manifest, notes)
  notes.push(`node ${major} with ${manager.name} for the assets`)
  const tool = manager.globalPackage
  return [
    `COPY --from=${baseImage(settings, `node:${major}-bookworm-slim`)} /usr/local /opt/node`,
    'ENV PATH=/opt/node/bin:$PATH',
    ...Object.entries(manager.environment).map(([key, value]) => `ENV ${key}=${value}`),
    ...(tool === null ? [] : [step(`npm install --global --force ${tool}`, settings, ['/root/.npm'])]),
    step(manager.install, settings, [manager.cache]),
  ]
}

/** The command that makes the assets, or null when package.json has no script "build". */
export async function assetsCommand(tree: Tree): Promise<string | null> {
  if (!(await tree.hasFile('package.json'))) return null
  const manifest = await readManifest(tree)
  if (manifest.scripts.build === undefined) return null
  return (await choosePackageManager(tree, manifest, [])).run('build')
}

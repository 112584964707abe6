import type { Tree } from '../../../sources/tree.ts'
import { readManifest } from '../node/manifest.ts'

const ENCORE = '@symfony/webpack-encore'

/** As Symfony's recipe has it (symfony.com, "Installing Encore"). */
const FOLDER = 'public/build'

/**
 * The scripts of package.json that make the assets of the pages by Encore for their users, whatever their names, the usual one
 * first; none where there are none, or the source has what they make.
 */
export async function encoreScripts(tree: Tree): Promise<string[]> {
  if (!(await tree.hasFile('package.json'))) return []
  const { scripts, dependencies } = await readManifest(tree)
  if (!(ENCORE in dependencies) || (await tree.hasFile(`${FOLDER}/entrypoints.json`))) return []
  const names = Object.keys(scripts).filter((name) => /\bencore prod/.test(scripts[name]!))
  return names.includes('build') ? ['build'] : names
}

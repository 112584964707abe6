import { readManifest } from '../node/manifest.ts'
import { callsOf } from '../node/scripts.ts'
import type { Tree } from '../source/tree.ts'

const ENCORE = '@symfony/webpack-encore'

/** As in Symfony's recipe (symfony.com, "Installing Encore"). */
const FOLDER = 'public/build'

/** Usual names of scripts that build everything, not a part. */
const USUAL = ['build:prod', 'production', 'prod']

/**
 * Returns the scripts of package.json that build the assets with Encore for production, whatever their names, the usual one
 * first; none where there are none, or the source has the output.
 */
export async function encoreScripts(tree: Tree): Promise<string[]> {
  if (!(await tree.hasFile('package.json'))) return []
  const { scripts, dependencies } = await readManifest(tree)
  if (!(ENCORE in dependencies) || (await tree.hasFile(`${FOLDER}/entrypoints.json`))) return []
  // A build only for development calls Encore in no other mode.
  const built = modesOf('build', scripts)
  if ('build' in scripts && (built.length === 0 || built.some(isForUsers))) return ['build']
  const named = Object.keys(scripts).filter((name) => isForUsers(scripts[name]!))
  return [...USUAL.filter((name) => modesOf(name, scripts).some(isForUsers)), ...named]
}

/** Returns the calls of Encore to which a script resolves. */
function modesOf(name: string, scripts: Record<string, string>): string[] {
  return callsOf(scripts[name] ?? '', scripts)
    .map((call) => call.join(' '))
    .filter((call) => /\bencore\b/.test(call))
}

function isForUsers(call: string): boolean {
  return /\bencore prod/.test(call)
}

import { readManifest } from '../node/manifest.ts'
import { callsOf } from '../node/scripts.ts'
import type { Tree } from '../tree.ts'

const ENCORE = '@symfony/webpack-encore'

/** As Symfony's recipe has it (symfony.com, "Installing Encore"). */
const FOLDER = 'public/build'

/** Names that people give to what makes all of them, not a part. */
const USUAL = ['build:prod', 'production', 'prod']

/**
 * The scripts of package.json that make the assets of the pages by Encore for their users, whatever their names, the usual one
 * first; none where there are none, or the source has what they make.
 */
export async function encoreScripts(tree: Tree): Promise<string[]> {
  if (!(await tree.hasFile('package.json'))) return []
  const { scripts, dependencies } = await readManifest(tree)
  if (!(ENCORE in dependencies) || (await tree.hasFile(`${FOLDER}/entrypoints.json`))) return []
  // A build that is for developers alone calls Encore for nobody else.
  const built = modesOf('build', scripts)
  if ('build' in scripts && (built.length === 0 || built.some(isForUsers))) return ['build']
  const named = Object.keys(scripts).filter((name) => isForUsers(scripts[name]!))
  return [...USUAL.filter((name) => modesOf(name, scripts).some(isForUsers)), ...named]
}

/** The calls of Encore that a script comes to. */
function modesOf(name: string, scripts: Record<string, string>): string[] {
  return callsOf(scripts[name] ?? '', scripts)
    .map((call) => call.join(' '))
    .filter((call) => /\bencore\b/.test(call))
}

function isForUsers(call: string): boolean {
  return /\bencore prod/.test(call)
}

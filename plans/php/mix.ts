import type { Tree } from '../source/tree.ts'

/** As in Laravel's skeleton with Mix (laravel.com, "Compiling Assets (Mix)"). */
export const MIX_SCRIPTS = ['build', 'production', 'prod']

/** Its output, below the folder of the pages. */
const MADE = ['mix-manifest.json', 'js/app.js', 'css/app.css']

/** Whether the pages use the output of Mix and the source does not have it. */
export async function wantsMix(tree: Tree): Promise<boolean> {
  const configuration = await tree.readText('webpack.mix.js')
  if (configuration === null) return false
  const folder = /\bsetPublicPath\(\s{0,9}["'`]([\w./-]{1,100})/.exec(configuration)?.[1] ?? 'public'
  for (const file of MADE) if (await tree.hasFile(`${folder}/${file}`)) return false
  return true
}

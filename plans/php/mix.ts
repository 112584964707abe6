import type { Tree } from '../tree.ts'

/** As Laravel's skeleton names them with Mix (laravel.com, "Compiling Assets (Mix)"). */
export const MIX_SCRIPTS = ['build', 'production', 'prod']

/** What it makes, below the folder of the pages. */
const MADE = ['mix-manifest.json', 'js/app.js', 'css/app.css']

/** Whether the pages want what Mix makes for them, and the source does not have. */
export async function wantsMix(tree: Tree): Promise<boolean> {
  const configuration = await tree.readText('webpack.mix.js')
  if (configuration === null) return false
  const folder = /\bsetPublicPath\(\s{0,9}["'`]([\w./-]{1,100})/.exec(configuration)?.[1] ?? 'public'
  for (const file of MADE) if (await tree.hasFile(`${folder}/${file}`)) return false
  return true
}

// npm run bench [-- name...]: runs all measurements in bench/, or the named ones, one after another.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureTestBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { Refusal, run, say } from './lib/say.mjs'

const FOLDER = join(ROOT, 'bench')

run(async () => {
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  const files = existsSync(FOLDER) ? readdirSync(FOLDER) : []
  const known = files.filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -'.ts'.length))
  const names = process.argv.length > 2 ? process.argv.slice(2) : known
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Refusal(`there is no bench/${unknown[0]}.ts; there are: ${known.join(', ') || 'none'}`)
  await ensureTestBuild(node)
  for (const name of names) {
    say(`bench ${name}`)
    const child = spawn(node, [join(FOLDER, `${name}.ts`)], { cwd: ROOT, stdio: 'inherit' })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Refusal(`bench ${name} failed`)
  }
})

// npm run chaos -- [--minutes 20] [--seed N] [--without disk,clock]: chaos/main.ts, once everything that it needs is there.
import { join } from 'node:path'
import { ensureTestBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { run } from './lib/say.mjs'
import { mustRunOnTerminal } from './lib/terminal.mjs'

run(async () => {
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  await ensureTestBuild(node)
  await mustRunOnTerminal(node, [join(ROOT, 'chaos', 'main.ts'), ...process.argv.slice(2)], 'chaos was found')
})

// npm start: installs what is missing, builds what changed, and runs the server or another command (npm start -- install).
// Runs on any node from 18.
import { runInstead } from './lib/command.mjs'
import { ensureBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { ensureEngine } from './lib/engine.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { run } from './lib/say.mjs'

/** Commands that leave a server running. */
const NEED_ENGINE = ['serve', 'install']

run(async () => {
  const flags = process.argv.slice(2).filter((flag) => flag !== '--no-install')
  const mayInstall = flags.length === process.argv.length - 2
  await ensureDependencies({ mayInstall })
  const node = findNode()
  const command = flags[0] && !flags[0].startsWith('-') ? [] : ['serve']
  await installPackages(await missingPackages(node), { mayInstall })
  if (NEED_ENGINE.includes(command[0] ?? flags[0] ?? ''))
    await ensureEngine({ mayInstall, named: namesEngine(flags) })
  const entry = await ensureBuild(node)
  await runInstead(node, [entry, ...command, ...flags])
})

/** @param {string[]} flags */
function namesEngine(flags) {
  return Boolean(process.env.DOCKER_HOST) || flags.some((flag) => /^--docker-host(=|$)/.test(flag))
}

// npm run build: builds the server into .output unless nothing changed.
import { ensureBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { run } from './lib/say.mjs'

run(async () => {
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  const missing = await missingPackages(node)
  await installPackages(
    missing.filter((name) => name === 'libatomic1'),
    { mayInstall: true },
  )
  await ensureBuild(node)
})

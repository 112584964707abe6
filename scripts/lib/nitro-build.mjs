// Builds the server into the folder given as the first argument. Runs on the node that will run the server.
import { rm } from 'node:fs/promises'
import { build, copyPublicAssets, createNitro, prepare } from 'nitropack/core'
import { ROOT } from './paths.mjs'

// Whoever builds gets what people get: vitest's own value would make Vue a development build, twice as large.
process.env.NODE_ENV = 'production'

const [directory] = process.argv.slice(2)
if (!directory) throw new Error('usage: nitro-build.mjs <output folder>')

/** Nitro's working files. Each build has its own, since two may run at once. */
const workingFiles = `${directory}.nitro`
const nitro = await createNitro({
  rootDir: ROOT,
  dev: false,
  buildDir: workingFiles,
  output: { dir: directory, serverDir: '{{ output.dir }}/server', publicDir: '{{ output.dir }}/public' },
})
try {
  await prepare(nitro)
  await copyPublicAssets(nitro)
  await build(nitro)
} finally {
  await nitro.close()
  await rm(workingFiles, { recursive: true, force: true })
}

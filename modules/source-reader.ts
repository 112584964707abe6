import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'

/**
 * Bundles the program that reads users' files beside the server's: it runs as processes of its own, one a build or an
 * upload, whose start must be short.
 */
export default defineNitroModule({
  name: 'source-reader',
  setup(nitro) {
    const { rootDir, output } = nitro.options
    nitro.hooks.hook('compiled', () => {
      buildSync({
        entryPoints: [join(rootDir, 'daemon/source-reader.ts')],
        outfile: join(output.serverDir, 'source-reader.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node26',
        // Packages of CommonJS ask for node's own modules.
        banner: {
          js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
        },
        logLevel: 'warning',
      })
    })
  },
})

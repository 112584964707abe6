import { join } from 'node:path'
import { build } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'

/**
 * Bundles the data plane's program apart from the server's. As a second entry of the same build it would share chunks
 * with the server and boot that when it starts.
 */
export default defineNitroModule({
  name: 'proxy',
  setup(nitro) {
    nitro.hooks.hook('compiled', async () => {
      await build({
        entryPoints: [join(nitro.options.rootDir, 'proxy/main.ts')],
        outfile: join(nitro.options.output.serverDir, 'proxy.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node24',
        logLevel: 'warning',
      })
    })
  },
})

import { join } from 'node:path'
import { defineNitroModule } from 'nitropack/kit'
import { bundleProxy } from './proxy-bundle.ts'

/**
 * Bundles the data plane's program beside the server's. It runs as processes of its own, which outlive the server, so
 * it shares no chunk with it.
 */
export default defineNitroModule({
  name: 'proxy',
  setup(nitro) {
    nitro.hooks.hook('compiled', () => {
      bundleProxy(nitro.options.rootDir, join(nitro.options.output.serverDir, 'proxy.mjs'))
    })
  },
})

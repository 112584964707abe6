import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'

/**
 * Bundles the data plane's program of the project in `root` into one file that needs only node. It loads node's modules with
 * a function call: an `import` of one also loads everything that its other exports need, which would cost every worker a few
 * MiB.
 */
export function bundleProxy(root: string, outfile: string): void {
  buildSync({
    entryPoints: [join(root, 'proxy/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    banner: { js: 'const require = process.getBuiltinModule' },
    target: 'node26',
    logLevel: 'warning',
  })
}

/**
 * Bundles the data plane's program next to the server's. It runs in processes of its own, which outlive the server, so it
 * shares no chunk with it.
 */
export default defineNitroModule({
  name: 'proxy',
  setup(nitro) {
    nitro.hooks.hook('compiled', () => {
      bundleProxy(nitro.options.rootDir, join(nitro.options.output.serverDir, 'proxy.mjs'))
    })
  },
})

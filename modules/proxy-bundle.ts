import { join } from 'node:path'
import { buildSync } from 'esbuild'

/** Bundles the data plane's program of the project in `root` into one file that needs node alone. */
export function bundleProxy(root: string, outfile: string): void {
  buildSync({
    entryPoints: [join(root, 'proxy/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    logLevel: 'warning',
  })
}

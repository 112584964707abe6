import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'

/** Each with the name of its bundle. */
const PROGRAMS = {
  'source-reader': 'daemon/source-reader.ts',
  lifeline: 'daemon/reader/lifeline.ts',
  'git-runner': 'daemon/git-runner.ts',
  'git-dialer': 'daemon/git-dialer.ts',
  'log-search': 'server/logs/search-program.ts',
  'blueprint-reader': 'server/blueprints/reading-program.ts',
}

/**
 * Bundles the programs that read users' files, start git, connect ssh, search logs and read blueprints beside the server's: they run as
 * processes and threads of their own, whose start must be short.
 */
export default defineNitroModule({
  name: 'source-reader',
  setup(nitro) {
    const { rootDir, output } = nitro.options
    nitro.hooks.hook('compiled', () => {
      buildSync({
        entryPoints: Object.entries(PROGRAMS).map(([out, path]) => ({ in: join(rootDir, path), out })),
        outdir: output.serverDir,
        outExtension: { '.js': '.mjs' },
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

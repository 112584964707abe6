import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { defineNitroModule } from 'nitropack/kit'

/** The programs, by the name of their bundle. */
const PROGRAMS = {
  'source-reader': 'daemon/source-reader.ts',
  lifeline: 'daemon/reader/lifeline.ts',
  'git-runner': 'daemon/git-runner.ts',
  'git-dialer': 'daemon/git-dialer.ts',
  'log-search': 'server/logs/search-program.ts',
  'blueprint-reader': 'server/blueprints/reading-program.ts',
  'backup-packer': 'server/server-backups/packing-program.ts',
  'node-agent': 'agent/main.ts',
}

/**
 * Bundles, next to the server's program, those that read users' files, start git, connect ssh, search logs, read
 * blueprints and pack backups, and the agent of other nodes. They run as processes and threads of their own, which must start quickly.
 */
export default defineNitroModule({
  name: 'programs',
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
        // CommonJS packages call `require` for node's own modules.
        banner: {
          js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
        },
        logLevel: 'warning',
      })
    })
  },
})

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineNitroModule } from 'nitropack/kit'
import { build } from 'vite'

/**
 * Builds the dashboard. Its hashed files become public assets with compressed copies, listed in the virtual module
 * `#dashboard-assets`. Its page becomes the virtual module `#dashboard`, because every address of the dashboard answers with
 * it, and each answer carries the page's policy.
 */
export default defineNitroModule({
  name: 'dashboard',
  async setup(nitro) {
    const { rootDir, buildDir } = nitro.options
    const folder = join(buildDir, 'dashboard')
    await build({
      configFile: join(rootDir, 'dashboard/vite.config.ts'),
      build: { outDir: folder },
      logLevel: 'warn',
    })
    nitro.options.publicAssets.push({
      dir: join(folder, 'assets'),
      baseURL: '/assets',
      maxAge: 0,
    })
    nitro.options.virtual['#dashboard-assets'] =
      "export { default } from '#nitro-internal-virtual/public-assets-data'"
    nitro.options.compressPublicAssets = { gzip: true, brotli: true }
    const page = await readFile(join(folder, 'index.html'), 'utf8')
    // Weak, because it is also the tag of the compressed copies (RFC 9110 section 8.8.1).
    const etag = `W/"${createHash('sha256').update(page).digest('base64url').slice(0, 27)}"`
    nitro.options.virtual['#dashboard'] =
      `export const page = ${JSON.stringify(page)}\nexport const etag = ${JSON.stringify(etag)}\n`
  },
})

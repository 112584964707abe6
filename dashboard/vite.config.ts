import { readFile } from 'node:fs/promises'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

const THEME_SCRIPT = new URL('src/theme.js', import.meta.url)

/**
 * Puts src/theme.js into the head as a blocking script of its own: modules run after the first paint, and the page's
 * policy allows no inline script.
 */
function themeScript(): Plugin {
  return {
    name: 'theme-script',
    async buildStart() {
      // The development server serves the file itself.
      if (this.meta.watchMode) return
      this.emitFile({ type: 'asset', name: 'theme.js', source: await readFile(THEME_SCRIPT, 'utf8') })
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const asset = Object.values(bundle).find(
          (output) => output.type === 'asset' && output.names.includes('theme.js'),
        )
        return [
          {
            tag: 'script',
            attrs: { src: asset ? `/${asset.fileName}` : '/src/theme.js' },
            injectTo: 'head-prepend',
          },
        ]
      },
    },
  }
}

export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  plugins: [vue(), tailwindcss(), themeScript()],
  define: { __VUE_OPTIONS_API__: 'false', __VUE_PROD_DEVTOOLS__: 'false' },
  build: {
    target: 'es2023',
    outDir: '../.nitro/dashboard',
    emptyOutDir: true,
    // An inlined font would be a data: URL, which the page's policy (font-src 'self') refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'vue',
              // With what it runs at once: from a chunk that begins after it that would not be there yet.
              test: /node_modules[\\/](@vue|vue|vue-router|birpc|hookable|perfect-debounce)[\\/]/,
            },
            // What most pages use comes as one file instead of twenty small ones.
            {
              name: 'ui',
              test: /dashboard[\\/]src[\\/](api|ui)[\\/]|node_modules[\\/]lucide-/,
              minShareCount: 4,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': process.env.DEPLOYER_API ?? 'http://127.0.0.1:7878' } },
})

import { readFile } from 'node:fs/promises'
import tailwindcss from '@tailwindcss/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'
import { chunkOf } from './chunks.ts'

const HEAD_SCRIPTS = ['theme.js', 'reload-once.js']

/**
 * Puts what has to run before the first paint, and before any module, into the head as one blocking script: the page's
 * policy allows no inline one.
 */
function headScript(): Plugin {
  return {
    name: 'head-script',
    async buildStart() {
      // The development server serves the files themselves.
      if (this.meta.watchMode) return
      const texts = HEAD_SCRIPTS.map((name) => readFile(new URL(`src/${name}`, import.meta.url), 'utf8'))
      this.emitFile({ type: 'asset', name: 'head.js', source: (await Promise.all(texts)).join('') })
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const asset = Object.values(bundle).find(
          (output) => output.type === 'asset' && output.names.includes('head.js'),
        )
        const sources = asset ? [`/${asset.fileName}`] : HEAD_SCRIPTS.map((name) => `/src/${name}`)
        return sources.map((src) => ({ tag: 'script', attrs: { src }, injectTo: 'head-prepend' }))
      },
    },
  }
}

export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  plugins: [vue(), tailwindcss(), headScript()],
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
          groups: [{ name: chunkOf, debugName: 'pages' }],
        },
      },
    },
  },
  server: { proxy: { '/api': process.env.DEPLOYER_API ?? 'http://127.0.0.1:7878' } },
})

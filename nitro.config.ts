import { fileURLToPath } from 'node:url'
import { defineNitroConfig } from 'nitropack/config'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineNitroConfig({
  compatibilityDate: '2026-11-01',
  preset: './preset',
  imports: false,
  ignore: ['**/*.test.ts', 'dashboard/**', 'test/**', 'proxy/**', 'mcp/**'],
  errorHandler: at('./server/http/error-handler.ts'),
  alias: {
    '#server': at('./server'),
    '#daemon': at('./daemon'),
    '#plans': at('./plans'),
    '#proxy': at('./proxy'),
    '#mcp': at('./mcp'),
  },
  esbuild: { options: { target: 'es2024' } },
  sourceMap: false,
  typescript: { generateTsConfig: false },
})

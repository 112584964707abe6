import { fileURLToPath } from 'node:url'
import { defineNitroConfig } from 'nitropack/config'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineNitroConfig({
  compatibilityDate: '2026-11-01',
  preset: './preset',
  imports: false,
  ignore: ['**/*.test.ts', 'dashboard/**', 'test/**', 'proxy/**', 'mcp/**', 'agent/**'],
  errorHandler: at('./server/http/error-handler.ts'),
  alias: {
    '#server': at('./server'),
    '#daemon': at('./daemon'),
    '#plans': at('./plans'),
    '#proxy': at('./proxy'),
    '#mcp': at('./mcp'),
    '#agent': at('./agent'),
  },
  // Passkeys and our own certificates need different versions of @peculiar/x509, and Nitro would give both the newer one. So
  // the former is bundled, with what of its dependencies must be there first, or has files that Nitro does not copy.
  externals: {
    inline: [/\/node_modules\/(@simplewebauthn\/server|tsyringe|tslib|reflect-metadata)\//],
  },
  moduleSideEffects: ['reflect-metadata/'],
  esbuild: { options: { target: 'es2024' } },
  sourceMap: false,
  typescript: { generateTsConfig: false },
})

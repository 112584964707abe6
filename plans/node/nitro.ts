import { foreign } from './foreign.ts'
import { isOfMajor, settingOf, type Framework, type Project } from './frameworks.ts'

/** The output of Nitro, with which Nuxt, SolidStart and TanStack Start build (nitro.build, "Node.js"). */
export const NITRO = { start: 'node .output/server/index.mjs', output: '.output' }
/** Selects the preset for node, whatever configuration files and fallbacks of other presets say (nitro.build, "Deploy"). */
export const FOR_NODE = { NITRO_PRESET: 'node-server' }
/** Presets whose output runs only on other hosts. */
const FOREIGN_PRESET =
  /\bpreset["']?\s*:\s*["'`]((?:vercel|netlify|cloudflare|aws|azure|firebase|deno[-_]deploy)[\w-]{0,40})["'`]/
/** Presets that produce a static site. */
const STATIC_PRESET = /\bpreset["']?\s*:\s*["'`](?:static|(?:github|gitlab)[-_]pages)["'`]/

/** Nuxt before version 3 has another server. */
export function nuxt({ configuration, manifest }: Project): Partial<Framework> {
  const range = manifest.dependencies.nuxt ?? manifest.dependencies['nuxt-edge']
  const isOld = isOfMajor(range, '1', '2')
  const publishDirectory = isOld ? 'dist' : '.output/public'
  // `nuxt generate` makes a static site (nuxt.com, "Static Hosting").
  const generates = /\b(?:nuxt|nuxi) generate\b/.test(manifest.scripts.build ?? '')
  if (generates || STATIC_PRESET.test(configuration)) {
    return { start: null, output: null, publishDirectory }
  }
  if (isOld) return { start: 'nuxt start', output: null, publishDirectory }
  // The variable overrides the file (nuxt.com, "Deployment").
  return FOREIGN_PRESET.test(configuration)
    ? { environment: { NUXT_TELEMETRY_DISABLED: '1', ...FOR_NODE } }
    : {}
}

/** SolidStart's settings have the preset next to those of its server. */
export function solidStart({ configuration, manifest }: Project): Partial<Framework> {
  // Without vinxi it is a plugin of Vite (SolidStart 2).
  const build = 'vinxi' in manifest.dependencies ? {} : { build: 'vite build' }
  return STATIC_PRESET.test(configuration) || /\bssr\s*:\s*false\b/.test(configuration)
    ? { ...build, start: null, output: null, publishDirectory: '.output/public', singlePage: true }
    : { ...build, obstacle: foreignPreset('SolidStart', configuration) }
}

/** With Nitro it has a server of its own; without, srvx serves the output (TanStack Start, "Hosting"). */
export function tanstack({ configuration, manifest: { dependencies } }: Project): Partial<Framework> {
  if (
    ['nitro', 'nitropack', 'vinxi', '@tanstack/nitro-v2-vite-plugin'].some((name) => name in dependencies)
  ) {
    // Lovable's setup falls back on Cloudflare's.
    return { environment: FOR_NODE, obstacle: foreignPreset('TanStack Start', configuration) }
  }
  const start = 'srvx --prod -s ../client dist/server/server.js'
  return { start, output: null, program: 'srvx' in dependencies ? null : 'srvx' }
}

/** Its Vite plugin has to be named there; a template may leave the package in the list unused. */
export function nitro({ configuration, manifest }: Project): Partial<Framework> | null {
  if (!/\bvite build\b/.test(manifest.scripts.build ?? '')) return {}
  return /\bnitro\b/i.test(configuration) ? { obstacle: foreignPreset('Nitro', configuration) } : null
}

/** The preset of a plugin overrides the variable. */
function foreignPreset(name: string, configuration: string): string | null {
  const preset = settingOf(configuration, FOREIGN_PRESET)
  return preset === null ? null : foreign(name, `Nitro's preset ${preset}`, 'the preset node-server')
}

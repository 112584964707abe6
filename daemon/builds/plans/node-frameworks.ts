import type { Tree } from '../../sources/tree.ts'
import type { Manifest } from './node-manifest.ts'

/** What a web framework's build leaves behind. */
export interface Framework {
  name: string
  /** Starts what was built; null where that is files alone. */
  start: string | null
  /** Where the files of a site end up. */
  publishDirectory: string | null
}

interface Known extends Framework {
  /** The package that tells of it. */
  package: string
  /** Its files of configuration, whose text `refine` gets. */
  configuration: string[]
  refine?(configuration: string, manifest: Manifest): Partial<Framework>
}

const variants = (name: string): string[] =>
  ['js', 'mjs', 'ts', 'mts', 'cjs'].map((ending) => `${name}.${ending}`)

/** Frameworks before the tools they are made with: many of them bring Vite. */
const KNOWN: Known[] = [
  {
    name: 'Next',
    package: 'next',
    configuration: variants('next.config'),
    start: 'next start -H 0.0.0.0 -p $PORT',
    publishDirectory: 'out',
    refine: (text) =>
      /output\s*:\s*["'`]standalone/.test(text)
        ? { start: 'HOSTNAME=0.0.0.0 node .next/standalone/server.js' }
        : /output\s*:\s*["'`]export/.test(text)
          ? { start: null }
          : {},
  },
  {
    name: 'Nuxt',
    package: 'nuxt',
    configuration: [],
    start: 'HOST=0.0.0.0 node .output/server/index.mjs',
    publishDirectory: '.output/public',
  },
  {
    name: 'Astro',
    package: 'astro',
    configuration: variants('astro.config'),
    start: null,
    publishDirectory: 'dist',
    refine: (_text, { dependencies }) =>
      '@astrojs/node' in dependencies ? { start: 'HOST=0.0.0.0 node dist/server/entry.mjs' } : {},
  },
  {
    name: 'SvelteKit',
    package: '@sveltejs/kit',
    configuration: [],
    start: null,
    publishDirectory: 'build',
    refine: (_text, { dependencies }) =>
      '@sveltejs/adapter-node' in dependencies ? { start: 'node build' } : {},
  },
  {
    name: 'React Router',
    package: '@react-router/serve',
    configuration: [],
    start: 'react-router-serve ./build/server/index.js',
    publishDirectory: 'build/client',
  },
  {
    name: 'Remix',
    package: '@remix-run/serve',
    configuration: [],
    start: 'remix-serve ./build/server/index.js',
    publishDirectory: 'build/client',
  },
  site('Gatsby', 'gatsby', 'public'),
  site('Docusaurus', '@docusaurus/core', 'build'),
  site('Eleventy', '@11ty/eleventy', '_site'),
  // Both lie in the folder of the documentation, which the build script names.
  {
    ...site('VitePress', 'vitepress', '.vitepress/dist'),
    refine: (_text, manifest) => ({ publishDirectory: inDocumentation(manifest, '.vitepress/dist') }),
  },
  {
    ...site('VuePress', 'vuepress', '.vuepress/dist'),
    refine: (_text, manifest) => ({ publishDirectory: inDocumentation(manifest, '.vuepress/dist') }),
  },
  site('Create React App', 'react-scripts', 'build'),
  site('Vue CLI', '@vue/cli-service', 'dist'),
  {
    ...site('Vite', 'vite', 'dist'),
    configuration: variants('vite.config'),
    refine: (text) => {
      const folder = /\boutDir\s*:\s*["'`](?:\.\/)?([\w./-]+)["'`]/.exec(text)?.[1]
      return folder === undefined ? {} : { publishDirectory: folder.startsWith('..') ? null : folder }
    },
  },
]

function site(name: string, packageName: string, publishDirectory: string): Known {
  return { name, package: packageName, configuration: [], start: null, publishDirectory }
}

function inDocumentation({ scripts }: Manifest, folder: string): string {
  const named = /\b(?:vitepress|vuepress) build ([\w-]+)/.exec(
    scripts.build ?? scripts['docs:build'] ?? '',
  )?.[1]
  return named === undefined ? folder : `${named}/${folder}`
}

/** A framework's name as one lower-case word. */
export function wordOf(framework: Framework | null): string | null {
  return framework === null ? null : framework.name.toLowerCase().replaceAll(' ', '-')
}

/** The framework that package.json names, or null. */
export async function frameworkOf(tree: Tree, manifest: Manifest): Promise<Framework | null> {
  const known = KNOWN.find((each) => each.package in manifest.dependencies)
  if (known === undefined) return null
  const texts = await Promise.all(known.configuration.map((name) => tree.readText(name)))
  const { name, start, publishDirectory } = known
  return { name, start, publishDirectory, ...known.refine?.(texts.join('\n'), manifest) }
}

/** Lines after the build that complete what it left: Next's standalone server serves only files that lie beside it. */
export function frameworkSteps(framework: Framework | null): string | null {
  if (framework?.start?.includes('.next/standalone') !== true) return null
  return 'cp -r .next/static .next/standalone/.next/ && if [ -d public ]; then cp -r public .next/standalone/; fi'
}

import { choose, inOrder } from './choices.ts'
import { readAssets } from './node/assets.ts'
import { hasScript, readManifest } from './node/manifest.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from './pins.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings } from './plan.ts'
import { pagesIn } from './source/pages.ts'
import { findInLines } from './source/text.ts'
import type { Tree } from './source/tree.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  siteStage,
  step,
  textOf,
} from './steps.ts'

/** A generator of static sites that is a program of its own. */
interface Generator {
  name: 'hugo' | 'zola' | 'mdbook'
  /** The newest release that was checked. */
  version: string
  image: string
  /** Lines that install it in the build stage. */
  install(version: string, settings: PlanSettings): string[]
  build: string
  /** The output folder, by its configuration. */
  publishDirectory(configuration: string): string
}

const HUGO: Generator = {
  name: 'hugo',
  version: '0.148.2',
  // Themes may be Go modules (gohugo.io, "Hugo Modules").
  image: 'golang:1.25-bookworm',
  // It has no image for building sites; the packages are those that others install as well.
  install: (version, settings) => [
    step(
      `curl -fsSL -o /tmp/hugo.deb https://github.com/gohugoio/hugo/releases/download/v${version}/hugo_extended_${version}_linux-$(dpkg --print-architecture).deb && dpkg -i /tmp/hugo.deb && rm /tmp/hugo.deb`,
      settings,
    ),
  ],
  build: 'hugo --gc --minify',
  publishDirectory: (configuration) =>
    findInLines(configuration, /^\s*["']?publishDir["']?\s*[:=]\s*["']?([\w-]+(?:\/[\w-]+)*)["']?/i) ??
    'public',
}

const ZOLA: Generator = {
  name: 'zola',
  version: '0.21.0',
  image: 'buildpack-deps:bookworm',
  install: (version, settings) => [
    `COPY --from=${baseImage(settings, `ghcr.io/getzola/zola:v${version}`)} /bin/zola /usr/local/bin/zola`,
  ],
  build: 'zola build',
  publishDirectory: (configuration) =>
    findInLines(configuration, /^\s*output_dir\s*=\s*["']([\w-]+(?:\/[\w-]+)*)["']/) ?? 'public',
}

const MDBOOK: Generator = {
  name: 'mdbook',
  // From 0.5 on it rejects unknown settings, which includes those of older books.
  version: '0.4.52',
  image: 'buildpack-deps:bookworm',
  // The project's own releases, one for each architecture (rust-lang/mdBook, "Pre-compiled binaries").
  install: (version, settings) => [
    step(
      `curl -fsSL https://github.com/rust-lang/mdBook/releases/download/v${version}/mdbook-v${version}-$(uname -m)-unknown-linux-musl.tar.gz | tar -xz -C /usr/local/bin`,
      settings,
    ),
  ],
  build: 'mdbook build',
  publishDirectory: (configuration) => {
    const folder =
      findInLines(configuration, /^\s*build-dir\s*=\s*["'](?:\.\/)?([\w-]+(?:\/[\w-]+)*)\/?["']/) ?? 'book'
    // With several outputs, each has a folder of its own (mdBook, "Renderers").
    const hasOthers = findInLines(configuration, /^\s*\[output\.(?!html\b)([\w-]+)/) !== undefined
    return hasOthers ? `${folder}/html` : folder
  },
}

/** The folder that may replace the file in the root (gohugo.io, "Configuration directory"). */
const HUGO_CONFIGURATION = 'config/_default'
const HUGO_FILES = filesNamed('hugo')
/** Names that other programs use as well: one of Hugo's folders has to be there too. */
const SHARED_FILES = filesNamed('config')
const HUGO_FOLDERS = ['archetypes', 'layouts', 'themes', HUGO_CONFIGURATION]

function filesNamed(name: string): string[] {
  const files = ['toml', 'yaml', 'yml', 'json'].map((ending) => `${name}.${ending}`)
  return [...files, ...files.map((file) => `${HUGO_CONFIGURATION}/${file}`)]
}

/** Sites of Hugo and Zola. */
export const generators: LanguagePlan = {
  name: 'static',
  lookedFor: 'hugo.toml or config.toml',
  detect: async (tree) => (await generatorOf(tree)) !== null,
  plan: async (tree, settings) => await planGeneratedSite(tree, settings, (await generatorOf(tree))!),
}

/** Books of mdBook, which are usually the documentation of the project around them. */
export const books: LanguagePlan = {
  name: 'static',
  lookedFor: 'book.toml',
  detect: async (tree) => (await bookOf(tree)) !== null && (await pagesIn(tree)) === null,
  plan: async (tree, settings) => await planGeneratedSite(tree, settings, (await bookOf(tree))!),
}

/** A generator and the text of its configuration. */
interface Found {
  generator: Generator
  configuration: string
}

/** A book has a list of its chapters, in the folder that its configuration names (mdBook, "Configuration"). */
async function bookOf(tree: Tree): Promise<Found | null> {
  const configuration = await tree.readText('book.toml')
  if (configuration === null) return null
  const source =
    findInLines(configuration, /^\s*src\s*=\s*["'](?:\.\/)?([\w-]+(?:\/[\w-]+)*)\/?["']/) ?? 'src'
  return (await tree.hasFile(`${source}/SUMMARY.md`)) ? { generator: MDBOOK, configuration } : null
}

/** Returns the generator whose site a tree is; null for none. */
export async function generatorOf(tree: Tree): Promise<Found | null> {
  for (const file of HUGO_FILES) {
    const configuration = await tree.readText(file)
    if (configuration === null || (isOfFolder(file) && (await startsOther(tree)))) continue
    return { generator: HUGO, configuration }
  }
  const hasContent = await tree.hasFolder('content')
  for (const file of SHARED_FILES) {
    const configuration = await tree.readText(file)
    if (configuration === null) continue
    // Its quick start has a theme alone until the first page is written.
    if (!hasContent && findInLines(configuration, /^\s*["']?(baseURL)["']?\s*[:=]/i) === undefined) continue
    // Zola requires `base_url`; Hugo writes `baseURL` (getzola.org, "Configuration").
    const isZola = file === 'config.toml' && findInLines(configuration, /^\s*(base_url)\s*=/) !== undefined
    if (isZola) return { generator: ZOLA, configuration }
    if (await isHugo(tree, file, hasContent)) return { generator: HUGO, configuration }
  }
  return null
}

/** Whether a configuration file with an ambiguous name is Hugo's. */
async function isHugo(tree: Tree, file: string, hasContent: boolean): Promise<boolean> {
  const isOwnFolder = isOfFolder(file)
  if (isOwnFolder && (await startsOther(tree))) return false
  for (const folder of HUGO_FOLDERS)
    if (!(isOwnFolder && folder === HUGO_CONFIGURATION) && (await tree.hasFolder(folder))) return true
  return isOwnFolder && hasContent && (await tree.hasFile('go.mod'))
}

function isOfFolder(file: string): boolean {
  return file.startsWith(`${HUGO_CONFIGURATION}/`)
}

/** Whether a package.json starts something other than Hugo's own server. */
async function startsOther(tree: Tree): Promise<boolean> {
  return (await hasScript(tree, 'start')) && !/\bhugo\b/.test((await readManifest(tree)).scripts.start!)
}

async function planGeneratedSite(
  tree: Tree,
  settings: PlanSettings,
  { generator, configuration }: Found,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const version = await chooseVersion(tree, generator, notes)
  const assets = await readAssets(tree, settings, notes)
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: { site: true },
    advice: 'make it a static_site',
    build: () => inOrder([...assets.commands, generator.build]),
  })
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, generator.image)),
    ...installPackages(aptPackages),
    ...generator.install(version, settings),
    'ENV HUGO_CACHEDIR=/root/.cache/hugo HUGO_ENVIRONMENT=production',
    'COPY source/ ./',
    ...assets.lines,
    ...buildCommandSteps(facts.buildCommand, settings, ['/root/.cache', ...assets.mounts]),
    ...siteStage(),
  ]
  return {
    ...facts,
    version,
    framework: generator.name,
    publishDirectory: generator.publishDirectory(configuration),
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: false,
    ignore: ['.git', '**/node_modules', ...(generator === MDBOOK ? [] : ['public'])],
    notes: [`${generator.name} ${version}`, ...notes],
  }
}

/** The variable in netlify.toml that names the version. */
const VARIABLES = {
  hugo: /^\s*HUGO_VERSION\s*=\s*["']?v?(\d+\.\d+\.\d+)/,
  zola: /^\s*ZOLA_VERSION\s*=\s*["']?v?(\d+\.\d+\.\d+)/,
  mdbook: /^\s*MDBOOK_VERSION\s*=\s*["']?v?(\d+\.\d+\.\d+)/,
}

async function chooseVersion(tree: Tree, { name, version }: Generator, notes: string[]): Promise<string> {
  const hosted = (await tree.readText('netlify.toml')) ?? ''
  const variable = VARIABLES[name]
  const pin = await firstPin([
    inFiles(tree, [`.${name}-version`]),
    inToolFiles(tree, [name, `${name}-extended`]),
    inManifest(findInLines(hosted, variable), 'netlify.toml'),
  ])
  const pinned = /^(?:extended_|v)?(\d+\.\d+\.\d+)/.exec(pin?.text ?? '')?.[1]
  if (pin !== null && pinned !== undefined) notes.push(`${name} ${pinned} by ${pin.where}`)
  return pinned ?? version
}

import type { Tree } from './source/tree.ts'

/** Manifests and main files of languages without a plan. */
const UNPLANNED: [names: RegExp, language: string][] = [
  [/^shard\.yml$/, 'Crystal'],
  [/^pubspec\.yaml$/, 'Dart'],
  [/^(?:stack\.yaml|[^.].*\.cabal)$/, 'Haskell'],
  [/^Package\.swift$/, 'Swift'],
  [/^(?:cpanfile|Makefile\.PL|[^.].*\.psgi)$/, 'Perl'],
  [/^(?:(?:app|server|plumber)\.[Rr]|renv\.lock)$/, 'R'],
  [/^build\.zig$/, 'Zig'],
  [/^(?:dune-project|[^.].*\.opam)$/, 'OCaml'],
  [/^[^.].*\.nimble$/, 'Nim'],
  [/^rebar\.config$/, 'Erlang'],
  [/^META6\.json$/, 'Raku'],
  [/^dub\.(?:json|sdl)$/, 'D'],
  [/^build\.(?:mill|sc)$/, 'Scala by Mill'],
]

/** Files that are found by name, in the case in which they must be written. */
const WRITTEN = [
  'Cargo.toml',
  'Dockerfile',
  'Gemfile',
  'Pipfile',
  'Procfile',
  'composer.json',
  'go.mod',
  'package.json',
  'pyproject.toml',
  'requirements.txt',
]

/** Notes files that are not read because of their case, which the file systems of Windows and macOS ignore. */
export async function misnamedIn(tree: Tree): Promise<string[]> {
  const names = await tree.list('.')
  return WRITTEN.flatMap((written) => {
    // A file named `dockerfile` is used, or reported, by other code.
    const name = names.find((each) => each.toLowerCase() === written.toLowerCase() && each !== 'dockerfile')
    return name === undefined || names.includes(written)
      ? []
      : [`${name} is not read: on Linux its name is ${written}, so rename it`]
  })
}

/** Advice for a tree that no plan fits, by the first of these files that is there. */
const SIGNS: [names: RegExp, advice: (name: string) => string][] = [
  ...UNPLANNED.map(([names, language]): [RegExp, (name: string) => string] => [
    names,
    (name) => withoutPlan(language, name),
  ]),
  [
    /^(?:[^.].*\.dockerfile|dockerfile[.-](?!(?:dockerignore|md|txt|sh|j2|tmpl|template|bak|orig)$).+)$/i,
    (name) => `${name} is a Dockerfile: set dockerfile_path to ${name}, or rename it to Dockerfile`,
  ],
  [/^(?:deployer|render)\.yaml$/, (name) => `${name} is a blueprint: apply it as one, or add a Dockerfile`],
  [
    /^(?:docker-)?compose\.ya?ml$/,
    (name) => `${name} describes services: convert it to a blueprint, or add a Dockerfile`,
  ],
  [/^(?:config\.ru|[^.].*\.rb)$/, (name) => `${name} is Ruby: add a Gemfile that names its gems`],
  [
    /^(?!setup\.)[^.].*\.py$/,
    (name) => `${name} is Python: add a requirements.txt that names the packages it imports`,
  ],
  [
    /^(?!index\.html$)[^.].*\.html$/,
    (name) => `${name} is a page, but there is no index.html: rename the first page to that`,
  ],
  [/^[^.].*\.[cm]?[jt]sx?$/, (name) => `${name} is for node: add a package.json with a script "start"`],
]

function withoutPlan(language: string, name: string): string {
  return `there is no plan for ${language} (${name}): add a Dockerfile`
}

/** Returns the language of a tree that has no plan, by the first file that shows it; null for none. */
export async function unplannedIn(tree: Tree): Promise<{ language: string; advice: string } | null> {
  const names = await tree.list('.')
  for (const [pattern, language] of UNPLANNED) {
    const name = names.find((each) => pattern.test(each))
    if (name !== undefined) return { language, advice: withoutPlan(language, name) }
  }
  return null
}

/** Files that accompany a program without being one. */
const NO_PROGRAM =
  /^(?:\..*|(?:readme|licen[cs]e|copying|notice|authors|changelog|contributing|security)(?:\..*)?|.*\.(?:md|rst|adoc|pdf|docx?|pptx?|png|jpe?g|gif|svg)|(?:docs?|images?|img|screenshots?|assets)\/)$/i

/** Whether a tree has only text and images. */
export async function hasNoProgram(tree: Tree): Promise<boolean> {
  return (await tree.list('.')).every((name) => NO_PROGRAM.test(name))
}

/** Returns what a tree that no plan fits is missing, where its files show it; null where they do not. */
export async function missingIn(tree: Tree): Promise<string | null> {
  const [misnamed] = await misnamedIn(tree)
  if (misnamed !== undefined) return misnamed
  const names = await tree.list('.')
  for (const [pattern, advice] of SIGNS) {
    const name = names.find((each) => pattern.test(each))
    if (name !== undefined) return advice(name)
  }
  return null
}

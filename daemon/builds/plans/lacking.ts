import type { Tree } from '../../sources/tree.ts'

/** What files of a root tell of a tree that no plan fits, with what to do, by the first that is there. */
const SIGNS: [names: RegExp, advice: (name: string) => string][] = [
  [/^shard\.yml$/, () => withoutPlan('Crystal')],
  [/^pubspec\.yaml$/, () => withoutPlan('Dart')],
  [/^(?:stack\.yaml|[^.].*\.cabal)$/, () => withoutPlan('Haskell')],
  [/^Package\.swift$/, () => withoutPlan('Swift')],
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
    (name) => `${name} is a page, but there is no index.html: name the first page so`,
  ],
  [/^[^.].*\.[cm]?[jt]sx?$/, (name) => `${name} is for node: add a package.json with a script "start"`],
]

function withoutPlan(language: string): string {
  return `there is no plan for ${language}: add a Dockerfile`
}

/** What a tree that no plan fits lacks, where its files tell; null where they do not. */
export async function lackingIn(tree: Tree): Promise<string | null> {
  const names = await tree.list('.')
  for (const [pattern, advice] of SIGNS) {
    const name = names.find((each) => pattern.test(each))
    if (name !== undefined) return advice(name)
  }
  return null
}

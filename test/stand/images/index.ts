import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forEachLimited } from '#daemon/work/each.ts'
import { docker } from '../engine.ts'
import { standFolder } from '../place.ts'
import { hasTag } from '../registry.ts'
import { say } from '../run.ts'
import { base, busybox, newerBase } from './base.ts'
import { keyvalue, newerRelational, relational } from './datastores.ts'
import { distribution } from './distribution.ts'
import { others } from './full.ts'
import { bun, deno, elixir, php, ruby, rust } from './languages-more.ts'
import { golang, node, python } from './languages.ts'

/** An image that stands in for one of a public registry. */
export interface Recipe {
  /** `name:tag`; the first is the name that it is built under, the others are the same image. */
  tags: string[]
  /** What it is made from; a changed text rebuilds it. */
  text: string
  /** The recipe whose image it starts from. */
  from?: Recipe
  /** Builds the image in the engine under the first tag; `folder` is empty and removed afterwards. */
  make(folder: string, text: string): Promise<void>
}

/** Each comes after the one it starts from. */
const RECIPES: Recipe[] = [
  busybox,
  base,
  newerBase,
  relational,
  newerRelational,
  keyvalue,
  distribution,
  node,
  python,
  golang,
  ruby,
  php,
  bun,
  deno,
  rust,
  elixir,
  ...others,
]

/** Building an image waits for the network and for the disk in turn: one alone uses half of two cores. */
const RECIPES_IN_PARALLEL = 4

/**
 * Builds every stand-in image that is missing or whose recipe changed, and pushes it to the registry, so that a pull by
 * its public name is a real one.
 */
export async function prepareImages(registry: string): Promise<void> {
  const prepared = new Map<Recipe, Promise<void>>()
  await forEachLimited(RECIPES, RECIPES_IN_PARALLEL, (recipe) => {
    const made = Promise.resolve(recipe.from && prepared.get(recipe.from)).then(() =>
      prepare(recipe, registry),
    )
    prepared.set(recipe, made)
    return made
  })
}

async function prepare(recipe: Recipe, registry: string): Promise<void> {
  const fileName = recipe.tags[0]!.replaceAll(/[/:]/g, '_')
  const stamp = join(standFolder('stamps'), fileName)
  const hash = hashOf(recipe)
  const isFresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
  if (isFresh && (await areServed(recipe, registry))) return
  const started = performance.now()
  const folder = join(standFolder('work'), fileName)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  if (recipe.from) await docker(['pull', '-q', recipe.from.tags[0]!])
  await recipe.make(folder, recipe.text)
  for (const tag of recipe.tags) {
    await docker(['tag', recipe.tags[0]!, tag])
    const pushed = `${registry}/${inHub(tag)}`
    await docker(['tag', tag, pushed])
    await docker(['push', '-q', pushed])
    await docker(['rmi', pushed])
  }
  rmSync(folder, { recursive: true, force: true })
  writeFileSync(stamp, hash)
  say(`${recipe.tags.join(', ')} made in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}

function hashOf(recipe: Recipe): string {
  const parts = [recipe.text, recipe.tags.join(), recipe.from ? hashOf(recipe.from) : '']
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}

/** The name behind `docker.io/`: official images are in `library/`. */
function inHub(name: string): string {
  return name.includes('/') ? name : `library/${name}`
}

async function areServed(recipe: Recipe, registry: string): Promise<boolean> {
  for (const name of recipe.tags) {
    const [repository, tag] = name.split(':') as [string, string]
    if (!(await hasTag(registry, inHub(repository), tag))) return false
  }
  return true
}

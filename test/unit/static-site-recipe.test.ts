import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chooseRecipe } from '#daemon/builds/choose-recipe.ts'
import { NO_SETTINGS } from '#daemon/builds/plans/plan.ts'
import type { Recipe } from '#daemon/builds/recipe.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'recipe-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

/** The recipe of a static site that publishes a folder. */
async function site(files: Record<string, string>, publishDirectory: string | null): Promise<Recipe> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  return await chooseRecipe({
    place: { directory, folder: '' },
    choice: {
      type: 'static_site',
      runtime: 'auto',
      dockerfilePath: null,
      publishDirectory,
      settings: NO_SETTINGS,
    },
  })
}

const SPHINX = { 'requirements.txt': 'sphinx\n', 'docs/conf.py': 'project = "docs"\n' }

test('documentation is built where publish_dir names what the build makes, or nothing', async () => {
  expect(await site(SPHINX, null)).toMatchObject({ framework: 'sphinx', publishDirectory: 'build/html' })
  expect(await site(SPHINX, 'out')).toMatchObject({ framework: 'sphinx', publishDirectory: 'out' })
})

test('what tools of browsers build is built, though a page lies there before', async () => {
  const files = {
    'package.json': '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "*"}}',
    'index.html': '',
    'public/index.html': '',
  }
  expect(await site(files, 'public')).toMatchObject({ runtime: 'node', buildCommand: 'npm run build' })
})

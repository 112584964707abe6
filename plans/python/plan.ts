import { choose, inOrder } from '../choices.ts'
import { readAssets } from '../node/assets.ts'
import { hasScript } from '../node/manifest.ts'
import { choosePlace, type Place } from '../place.ts'
import type { LanguagePlan, PlanFacts, PlannedBuild, PlanSettings, WholeSource } from '../plan.ts'
import { installBrowser } from '../playwright.ts'
import { pagesIn } from '../source/pages.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  MANIFESTS_FOLDER,
  step,
  takeApp,
  textOf,
  UNFINISHED,
} from '../steps.ts'
import { findDjango, gatherFiles } from './django.ts'
import { findGenerator } from './generators.ts'
import { chooseInstaller, type Installer } from './installers.ts'
import { reachOf } from './reach.ts'
import { readNames, type NamesPackage } from './requirements.ts'
import { runnerStep } from './runner.ts'
import { findStart, isBot, mayServe, suggestStart } from './start.ts'
import { systemPackages } from './system-packages.ts'
import { choosePythonVersion } from './version.ts'

/**
 * Manifests of Python projects; with only one of the weaker ones, a `package.json` with a start script makes a tree one of
 * node.
 */
const MANIFESTS = [
  'requirements.txt',
  'Pipfile',
  'uv.lock',
  'poetry.lock',
  'runtime.txt',
  'pyproject.toml',
  'setup.py',
  'mkdocs.yml',
  'pelicanconf.py',
  'environment.yml',
  'environment.yaml',
]
const ENTRY_FILES = ['main.py', 'app.py', 'wsgi.py', 'server.py', 'bot.py']

/** Python programs, with pip, uv, Poetry, PDM or Pipenv. */
export const python: LanguagePlan = {
  name: 'python',
  lookedFor: 'requirements.txt, pyproject.toml, Pipfile, environment.yml or main.py',
  detect: isPython,
  plan: planPython,
}

async function isPython(tree: Tree): Promise<boolean> {
  // The package.json of a Django project is for its styles, whatever it starts.
  if (await tree.hasFile('manage.py')) return true
  const procfile = (await tree.readText('Procfile')) ?? ''
  // The script is for the developers of its pages.
  if ((await hasScript(tree, 'start')) && !hasLine(procfile, SERVER_LINE)) return false
  const hasNode = await tree.hasFile('package.json')
  for (const name of hasNode ? MANIFESTS : [...MANIFESTS, ...ENTRY_FILES]) {
    if (await tree.hasFile(name)) return true
  }
  return !hasNode && hasLine(procfile, /^(?:web|worker):\s*python3?\s/)
}

/** A line of a Procfile that serves with a Python program. */
const SERVER_LINE =
  /^web:\s*(?:(?:uv|poetry|pipenv|pdm) run )?(?:gunicorn|uvicorn|hypercorn|daphne|waitress-serve|flask|streamlit)\s/

const VENV = '/opt/venv'
const CACHE = '/root/.cache'

async function planPython(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, await reachOf(tree))
  const { text: version, debian } = await choosePythonVersion(tree, notes)
  const names = await readNames(tree)
  const installer = await chooseInstaller(tree, whole, place, settings.secretNames)
  const { generator, found, project } = await findProgram(tree, names, settings)
  const assets = await readAssets(tree, settings, notes)
  const { start, facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: found ?? (generator === null ? null : { site: true }),
    advice: ADVICE,
    hasPython: true,
    build: ({ isSite }) =>
      inOrder([
        ...assets.commands,
        ...(generator !== null && isSite ? [generator.build] : []),
        ...(project !== null && !isSite ? gatherFiles(project, names) : []),
      ]),
  })
  const site = start.startCommand === null && (found === null || start.isSite) ? generator : null
  const added = start.isProposed && found !== null && !start.isSite ? found.packages : []
  if (added.length > 0) notes.push(`installing ${added.join(', ')}, which the requirements do not name`)
  const commands = [start.startCommand, facts.buildCommand].join('\n')
  // The program's own server, or a command of the service, needs it as well.
  const runsGenerator = found === null && generator !== null && commands.includes(generator.name)
  if (generator !== null && (site !== null || runsGenerator)) added.push(...generator.packages)
  const system = systemPackages(names)
  const packages = [...system.run, ...aptPackages]
  const slim = `python:${version}-slim-${debian}`
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, `python:${version}-${debian}`)),
    ...installPackages([...system.build, ...aptPackages]),
    ...(installer.lines?.(settings) ?? []),
    // Programs of the base image can be used; installed ones come first.
    ...(installer.makesEnvironment === true ? [] : [`RUN python3 -m venv --system-site-packages ${VENV}`]),
    `ENV VIRTUAL_ENV=${VENV} PATH=${VENV}/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore`,
    ...installSteps(installer, added, place, settings),
    ...(installer.tool === null ? [] : [await runnerStep(tree, installer.name.toLowerCase(), VENV)]),
    ...assets.lines,
    ...buildCommandSteps(facts.buildCommand, settings, [CACHE, ...assets.mounts]),
    ...pythonStage(facts, settings, slim, place, names, packages),
  ]
  return {
    ...facts,
    version,
    framework: site?.name ?? found?.framework ?? null,
    packageManager: installer.name.toLowerCase(),
    installCommand: installer.late ?? installer.early,
    publishDirectory: site?.publishDirectory ?? null,
    isWorker: (found?.framework ?? null) === null && (await isBot(tree, names)),
    dockerfile: textOf(dockerfile),
    manifests: { ...assets.manifests, ...installer.manifests },
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/__pycache__', '.venv', 'venv', '**/node_modules'],
    notes: [`python ${version} with ${installer.name}`, ...notes],
  }
}

const ADVICE = 'add a Procfile with a line "web:", or a main.py'

/** Finds what a tree has to start or to generate: what it says itself, else what its files suggest. */
async function findProgram(tree: Tree, names: NamesPackage, settings: PlanSettings) {
  const own = await findDjango(tree)
  const explicit = await findStart(tree, names, own)
  const generator = await findGenerator(tree, names)
  // The documentation of a program, next to it.
  const isSite = generator !== null && !(generator.name !== 'pelican' && mayServe(names))
  const isExplicit = explicit !== null || isSite || settings.startCommand !== null
  const isOther = isExplicit || (await tree.hasFile('Procfile')) || (await pagesIn(tree)) !== null
  const suggested = isOther ? null : await suggestStart(tree, names, generator !== null)
  return {
    generator,
    found: explicit ?? suggested?.start ?? null,
    project: own ?? suggested?.project ?? null,
  }
}

function pythonStage(
  facts: PlanFacts,
  settings: PlanSettings,
  image: string,
  place: Place,
  names: NamesPackage,
  packages: string[],
): string[] {
  return lastStage(facts, {
    image: baseImage(settings, image),
    packages,
    workdir: place.directory,
    content: [
      `COPY --from=build ${VENV} ${VENV}`,
      ...(names('playwright') ? installBrowser(`${VENV}/bin/playwright`) : []),
      takeApp(),
      `ENV VIRTUAL_ENV=${VENV} PATH=${VENV}/bin:$PATH PYTHONUNBUFFERED=1`,
    ],
  })
}

function installSteps(installer: Installer, added: string[], place: Place, settings: PlanSettings): string[] {
  const run = (command: string): string => step(command, settings, [CACHE])
  const { late } = installer
  const early = place.needsWhole ? null : installer.early
  const install = place.needsWhole ? (late ?? installer.early) : late
  const tool =
    installer.tool === null
      ? []
      : [run(`python3 -m venv /opt/tools && /opt/tools/bin/pip install ${installer.tool}`)]
  const environment = Object.entries(installer.environment).map(([key, value]) => `ENV ${key}=${value}`)
  const manifests = Object.keys(installer.manifests ?? {}).map(
    (file) => `COPY ${MANIFESTS_FOLDER}/${file} ./`,
  )
  // A manager that keeps an environment to its lock file would remove them again.
  const more = added.length === 0 ? [] : [run(`pip install ${added.join(' ')}`)]
  if (early !== null && install === null)
    return [
      ...tool,
      ...environment,
      ...copiesOf(installer),
      ...manifests,
      run(early),
      ...more,
      ...place.source,
    ]
  return [
    ...tool,
    ...environment,
    ...(early === null ? [] : [...copiesOf(installer), run(`${early} || ${UNFINISHED}`)]),
    ...place.source,
    ...(install === null ? [] : [...manifests, run(install)]),
    ...more,
  ]
}

function copiesOf({ files }: Installer): string[] {
  const isFlat = files.every((file) => !file.includes('/'))
  if (files.length > 0 && isFlat) return [`COPY ${files.map((file) => `source/${file}`).join(' ')} ./`]
  return files.map((file) => `COPY source/${file} ./${file}`)
}

import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { hasLine } from '../text.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { procfileCommand } from './procfile.ts'
import { runOf } from './start.ts'
import { chooseInstaller, type Installer } from './python-installers.ts'
import { findStart } from './python-start.ts'
import { choosePythonMinor } from './python-version.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Manifests of Python projects; a `package.json` that can be started makes a tree with one of the weaker signs a node one. */
const MANIFESTS = [
  'requirements.txt',
  'Pipfile',
  'uv.lock',
  'poetry.lock',
  'manage.py',
  'runtime.txt',
  'pyproject.toml',
  'setup.py',
]
const ENTRY_FILES = ['main.py', 'app.py', 'wsgi.py', 'server.py']

/** Python programs, with pip, uv, Poetry or Pipenv. */
export const python: LanguagePlan = {
  name: 'python',
  lookedFor: 'requirements.txt, pyproject.toml, Pipfile or main.py',
  detect: isPython,
  plan: makePlan,
}

async function isPython(tree: Tree): Promise<boolean> {
  const manifest = (await tree.readText('package.json')) ?? ''
  if (/"start"\s*:/.test(manifest)) return false
  for (const name of manifest === '' ? [...MANIFESTS, ...ENTRY_FILES] : MANIFESTS) {
    if (await tree.hasFile(name)) return true
  }
  return false
}

const VENV = '/opt/venv'
const CACHE = '/root/.cache'

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const minor = await choosePythonMinor(tree, notes)
  const installer = await chooseInstaller(tree)
  const startCommand = await chooseStart(tree, settings, notes)
  const isMkdocs = await tree.hasFile('mkdocs.yml')
  const build = settings.buildCommand ?? (await ownBuild(tree, settings, isMkdocs))
  if (build !== null) notes.push(`building with: ${build}`)
  const image = baseImage(settings, `python:3.${minor}-slim-bookworm`)
  const dockerfile = [
    ...buildStage(image),
    // Programs that a base image brings along can be used; those that are installed win.
    `RUN python3 -m venv --system-site-packages ${VENV}`,
    `ENV VIRTUAL_ENV=${VENV} PATH=${VENV}/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore`,
    ...installSteps(installer, settings),
    ...(build === null ? [] : buildCommandSteps(build, settings, [CACHE])),
    ...finalStage(
      image,
      [
        `COPY --from=build ${VENV} ${VENV}`,
        takeApp(),
        `ENV VIRTUAL_ENV=${VENV} PATH=${VENV}/bin:$PATH PYTHONUNBUFFERED=1`,
      ],
      startCommand,
    ),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version: `3.${minor}`,
    framework: isMkdocs ? 'mkdocs' : null,
    packageManager: installer.name.toLowerCase(),
    installCommand: [...installer.early, ...installer.late].join(' && ') || null,
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: isMkdocs ? 'site' : null,
    ignore: ['.git', '**/__pycache__', '.venv', 'venv'],
    notes: [`python 3.${minor} with ${installer.name}`, ...notes],
  }
}

async function chooseStart(tree: Tree, settings: PlanSettings, notes: string[]): Promise<string> {
  if (settings.processType === 'static') return 'true'
  const given = settings.startCommand ?? (await procfileCommand(tree, settings, notes))
  if (given !== null) return given
  if (settings.processType === 'job') {
    throw new BuildFailure('nothing says what this job runs: set start_command')
  }
  return await findStart(tree, notes)
}

/** Django's files are gathered where its settings say where to; MkDocs makes a site. */
async function ownBuild(tree: Tree, settings: PlanSettings, isMkdocs: boolean): Promise<string | null> {
  if (settings.processType === 'static') return isMkdocs ? 'mkdocs build' : null
  const project = /DJANGO_SETTINGS_MODULE["'],\s*["']([A-Za-z_]\w*)\./.exec(
    (await tree.readText('manage.py')) ?? '',
  )?.[1]
  if (project === undefined) return null
  const options = await tree.readText(`${project}/settings.py`)
  return hasLine(options ?? '', /^STATIC_ROOT\s*=/) ? 'python manage.py collectstatic --noinput' : null
}

function installSteps(installer: Installer, settings: PlanSettings): string[] {
  const tool =
    installer.tool === null
      ? []
      : [
          step(`python3 -m venv /opt/tools && /opt/tools/bin/pip install ${installer.tool}`, settings, [
            CACHE,
          ]),
        ]
  const environment = Object.entries(installer.environment).map(([key, value]) => `ENV ${key}=${value}`)
  const early =
    installer.files.length === 0
      ? []
      : [
          `COPY ${installer.files.map((name) => `source/${name}`).join(' ')} ./`,
          ...installer.early.map((command) => step(command, settings, [CACHE])),
        ]
  return [
    ...tool,
    ...environment,
    ...early,
    'COPY source/ ./',
    ...installer.late.map((command) => step(command, settings, [CACHE])),
  ]
}

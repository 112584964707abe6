import { posix } from 'node:path'
import type { Place } from '../place.ts'
import type { PlanSettings, WholeSource } from '../plan.ts'
import { findInLines, hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { baseImage } from '../steps.ts'
import { readEnvironment, type Environment } from './conda.ts'
import { isPlain, readRequirements, type Requirements } from './requirements.ts'

/** How the packages of a Python project are installed into the active environment. */
export interface Installer {
  name: string
  /** The package with the installer; null for pip. */
  tool: string | null
  environment: Record<string, string>
  /** The files that `early` reads. */
  files: string[]
  /** Files that an installation reads in another form than in the tree. */
  manifests?: Record<string, string>
  /** Lines that install what pip has no package for. */
  lines?: (settings: PlanSettings) => string[]
  /** Whether it creates the environment itself, with a Python of its own. */
  makesEnvironment?: true
  /**
   * Installs packages by `files` alone, so that a change of the code leaves them in the engine's cache; null where nothing
   * can be known from these.
   */
  early: string | null
  /** The installation as people run it, in the whole source; null where `early` is the same. */
  late: string | null
}

/** Chosen by the lock file, else by the manifest. */
export async function chooseInstaller(
  tree: Tree,
  whole: WholeSource | null,
  { above }: Place,
  variables: readonly string[],
): Promise<Installer> {
  const project = await tree.readText('pyproject.toml')
  if (await tree.hasFile('uv.lock')) return uv()
  const usesPoetry = (await tree.hasFile('poetry.lock')) || hasLine(project ?? '', /^\[tool\.poetry\]/)
  if (project !== null && usesPoetry) return await poetry(tree, project)
  if (project !== null && (await tree.hasFile('pdm.lock'))) return pdm(project)
  if (await tree.hasFile('Pipfile')) return pipenv(await tree.hasFile('Pipfile.lock'))
  const requirements = await readRequirements(tree)
  if (requirements.files.length > 0) return pip(requirements, variables)
  if (above !== null && whole !== null) return member(await whole.tree.hasFile(posix.join(above, 'uv.lock')))
  if (hasLine(project ?? '', /^\[project\]/)) return byProject(project!)
  const environment = await readEnvironment(tree)
  if (environment !== null) return conda(environment)
  const isPackage = hasLine(project ?? '', BUILDS) || (await tree.hasFile('setup.py'))
  const late = isPackage ? 'pip install .' : null
  return { name: 'pip', tool: null, environment: {}, files: [], early: null, late }
}

/** A project that says how it is built is a package, which is installed with its commands. */
const BUILDS = /^\[build-system\]/

/** Variables with which pip reads other files; those of an index are addresses. */
const PIP_VARIABLE = /^PIP_(?!(?:EXTRA_)?INDEX_URL$|TRUSTED_HOST$)/

function pip(requirements: Requirements, variables: readonly string[]): Installer {
  const install = 'pip install -r requirements.txt'
  const isSame = requirements.isPlain && !variables.some((name) => PIP_VARIABLE.test(name))
  return {
    name: 'pip',
    tool: null,
    environment: {},
    files: isSame ? requirements.files : [],
    early: isSame ? install : null,
    late: isSame ? null : install,
  }
}

/** Creates an environment of conda packages where other environments are (mamba-org, "Micromamba User Guide"). */
function conda({ file, text }: Environment): Installer {
  const create = `micromamba create --yes --always-copy --prefix /opt/venv --file ${file}`
  const isSame = [...linesOf(text)].every((line) => isPlain(/^ *- +["']?([^"']*)/.exec(line)?.[1] ?? ''))
  return {
    name: 'conda',
    tool: null,
    environment: { MAMBA_ROOT_PREFIX: '/root/.cache/mamba' },
    files: [],
    manifests: { [file]: text },
    lines: (settings) => [
      `COPY --from=${baseImage(settings, 'mambaorg/micromamba:2')} /bin/micromamba /usr/local/bin/micromamba`,
    ],
    makesEnvironment: true,
    early: isSame ? create : null,
    late: isSame ? null : create,
  }
}

const UV_ENVIRONMENT = {
  UV_PROJECT_ENVIRONMENT: '/opt/venv',
  UV_LINK_MODE: 'copy',
  UV_PYTHON_DOWNLOADS: 'never',
  // Whatever patch .python-version names: the image has no other.
  UV_PYTHON: '/opt/venv',
}

const UV_SYNC = '/opt/tools/bin/uv sync --frozen --no-dev'

function uv(): Installer {
  return {
    name: 'uv',
    tool: 'uv',
    environment: UV_ENVIRONMENT,
    files: ['pyproject.toml', 'uv.lock'],
    // The root of a workspace lists packages whose folders are not there yet (uv, "Using uv in Docker").
    early: `${UV_SYNC} --no-install-project --no-install-workspace`,
    late: UV_SYNC,
  }
}

/** A member of a workspace above the tree, which has the lock file. */
function member(hasLock: boolean): Installer {
  const late = hasLock ? UV_SYNC : '/opt/tools/bin/uv sync --no-dev'
  return { ...uv(), files: [], early: null, late }
}

/** What only the tree can tell about the requirements of a project. */
const OF_THE_TREE = /^dynamic\b.*(?:\bdependencies\b|\[\s*$)|^\[tool\.uv\b|\bfile:/

/** Installs a project without a lock file: its dependencies, and the project itself if it has a build. */
function byProject(project: string): Installer {
  const install = '/opt/tools/bin/uv pip install'
  const isPackage = hasLine(project, BUILDS)
  const own = isPackage ? `${install} .` : null
  const isSame = !hasLine(project, OF_THE_TREE)
  return {
    name: 'uv',
    tool: 'uv',
    environment: UV_ENVIRONMENT,
    files: isSame ? ['pyproject.toml'] : [],
    early: isSame ? `${install} -r pyproject.toml` : null,
    late: own ?? (isSame ? null : `${install} -r pyproject.toml`),
  }
}

async function poetry(tree: Tree, project: string): Promise<Installer> {
  const install = '/opt/tools/bin/poetry install --only main'
  const hasLock = await tree.hasFile('poetry.lock')
  return {
    name: 'Poetry',
    tool: 'poetry',
    environment: { POETRY_VIRTUALENVS_CREATE: 'false', POETRY_NO_INTERACTION: '1' },
    files: hasLock ? ['pyproject.toml', 'poetry.lock'] : ['pyproject.toml'],
    early: `${install} --no-root`,
    late: (await packsItself(tree, project)) ? install : `${install} --no-root`,
  }
}

/** Whether Poetry finds what it would install of the project itself; it refuses if there is nothing (Poetry, "packages"). */
async function packsItself(tree: Tree, project: string): Promise<boolean> {
  if (hasLine(project, /^package-mode\s*=\s*false/)) return false
  if (hasLine(project, /^packages\s*=/)) return true
  const name = findInLines(project, /^name\s*=\s*["']([\w.-]+)["']/)
  const module = name?.toLowerCase().replaceAll(/[-_.]+/g, '_')
  if (module === undefined) return false
  for (const path of [module, `src/${module}`])
    if ((await tree.hasFolder(path)) || (await tree.hasFile(`${path}.py`))) return true
  return false
}

function pdm(project: string): Installer {
  const install = '/opt/tools/bin/pdm sync --prod'
  return {
    name: 'PDM',
    tool: 'pdm',
    environment: { PDM_CHECK_UPDATE: 'false', PDM_NON_INTERACTIVE: '1', PDM_IGNORE_SAVED_PYTHON: '1' },
    files: ['pyproject.toml', 'pdm.lock'],
    early: `${install} --no-self`,
    late: hasLine(project, BUILDS) ? install : `${install} --no-self`,
  }
}

function pipenv(hasLock: boolean): Installer {
  const install = hasLock ? '/opt/tools/bin/pipenv sync' : '/opt/tools/bin/pipenv install --skip-lock'
  return {
    name: 'Pipenv',
    tool: 'pipenv',
    environment: { PIPENV_VERBOSITY: '-1', PIPENV_NOSPIN: '1' },
    files: hasLock ? ['Pipfile', 'Pipfile.lock'] : ['Pipfile'],
    early: install,
    late: install,
  }
}

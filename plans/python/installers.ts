import type { PlanSettings } from '../plan.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { baseImage } from '../steps.ts'
import { readEnvironment, type Environment } from './conda.ts'
import { readRequirements, type Requirements } from './requirements.ts'

/** How the packages of a Python project are installed into the active environment. */
export interface Installer {
  name: string
  /** The package with the installer; null for pip. */
  tool: string | null
  environment: Record<string, string>
  /** The files that an installation reads; none when it may read the whole tree. */
  files: string[]
  /** Files that it reads in another form than in the tree. */
  manifests?: Record<string, string>
  /** Lines that install what pip has no package for. */
  lines?: (settings: PlanSettings) => string[]
  /** Whether it creates the environment itself, with a Python of its own. */
  makesEnvironment?: true
  /** Commands that need only `files`, so that a change of the code leaves their result in the engine's cache. */
  early: string[]
  /** Commands that need the whole tree. */
  late: string[]
}

/** Chosen by the lock file, else by the manifest. */
export async function chooseInstaller(tree: Tree): Promise<Installer> {
  const project = await tree.readText('pyproject.toml')
  if (await tree.hasFile('uv.lock')) return uv(project ?? '')
  const usesPoetry = (await tree.hasFile('poetry.lock')) || hasLine(project ?? '', /^\[tool\.poetry\]/)
  if (project !== null && usesPoetry) return poetry(await tree.hasFile('poetry.lock'))
  if (project !== null && (await tree.hasFile('pdm.lock'))) return pdm()
  if (await tree.hasFile('Pipfile')) return pipenv(await tree.hasFile('Pipfile.lock'))
  const requirements = await readRequirements(tree)
  if (requirements.files.length > 0) return pip(requirements)
  if (hasLine(project ?? '', /^\[project\]/)) return byProject(project!)
  const environment = await readEnvironment(tree)
  if (environment !== null) return conda(environment)
  const isPackage = hasLine(project ?? '', /^\[build-system\]/) || (await tree.hasFile('setup.py'))
  const late = isPackage ? ['pip install .'] : []
  return { name: 'pip', tool: null, environment: {}, files: [], early: [], late }
}

function pip({ files, namesTree }: Requirements): Installer {
  const install = 'pip install -r requirements.txt'
  const [early, late] = namesTree ? [[], [install]] : [[install], []]
  return { name: 'pip', tool: null, environment: {}, files: namesTree ? [] : files, early, late }
}

/** Creates an environment of conda packages where other environments are (mamba-org, "Micromamba User Guide"). */
function conda({ file, text }: Environment): Installer {
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
    early: [`micromamba create --yes --always-copy --prefix /opt/venv --file ${file}`],
    late: [],
  }
}

const UV_ENVIRONMENT = {
  UV_PROJECT_ENVIRONMENT: '/opt/venv',
  UV_LINK_MODE: 'copy',
  UV_PYTHON_DOWNLOADS: 'never',
}

function uv(project: string): Installer {
  const sync = '/opt/tools/bin/uv sync --frozen --no-dev'
  const isWorkspace = hasLine(project, /^\[tool\.uv\.(workspace|sources)/)
  return {
    name: 'uv',
    tool: 'uv',
    environment: UV_ENVIRONMENT,
    files: isWorkspace ? [] : ['pyproject.toml', 'uv.lock'],
    early: isWorkspace ? [] : [`${sync} --no-install-project`],
    late: isWorkspace || hasLine(project, /^\[build-system\]/) ? [sync] : [],
  }
}

/** Installs a project without a lock file: its dependencies first, then the project itself if it has a build. */
function byProject(project: string): Installer {
  const install = '/opt/tools/bin/uv pip install'
  return {
    name: 'uv',
    tool: 'uv',
    environment: UV_ENVIRONMENT,
    files: ['pyproject.toml'],
    early: [`${install} -r pyproject.toml`],
    late: hasLine(project, /^\[build-system\]/) ? [`${install} --no-deps .`] : [],
  }
}

function poetry(hasLock: boolean): Installer {
  return {
    name: 'Poetry',
    tool: 'poetry',
    environment: { POETRY_VIRTUALENVS_CREATE: 'false', POETRY_NO_INTERACTION: '1' },
    files: hasLock ? ['pyproject.toml', 'poetry.lock'] : ['pyproject.toml'],
    early: ['/opt/tools/bin/poetry install --only main --no-root'],
    late: [],
  }
}

function pdm(): Installer {
  return {
    name: 'PDM',
    tool: 'pdm',
    environment: { PDM_CHECK_UPDATE: 'false', PDM_NON_INTERACTIVE: '1' },
    files: ['pyproject.toml', 'pdm.lock'],
    early: ['/opt/tools/bin/pdm sync --prod --no-self'],
    late: [],
  }
}

function pipenv(hasLock: boolean): Installer {
  return {
    name: 'Pipenv',
    tool: 'pipenv',
    environment: { PIPENV_VERBOSITY: '-1', PIPENV_NOSPIN: '1' },
    files: hasLock ? ['Pipfile', 'Pipfile.lock'] : ['Pipfile'],
    early: [hasLock ? '/opt/tools/bin/pipenv sync' : '/opt/tools/bin/pipenv install --skip-lock'],
    late: [],
  }
}

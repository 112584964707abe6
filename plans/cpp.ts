import { choose } from './choices.ts'
import { choosePlace, EVERY_LINE } from './place.ts'
import type { LanguagePlan, PlannedBuild, PlanSettings, WholeSource } from './plan.ts'
import { onlyProgram } from './programs.ts'
import { withoutHashComments } from './source/comments.ts'
import type { Tree } from './source/tree.ts'
import { UNKNOWN_PROGRAM } from './start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  TAKE_CERTIFICATES,
  takeApp,
  textOf,
} from './steps.ts'

/**
 * Programs in C and C++, built by CMake or Meson. Packages of other languages with parts in C have manifests of their own.
 */
export const cpp: LanguagePlan = {
  name: 'cpp',
  lookedFor: 'CMakeLists.txt or meson.build',
  detect: async (tree) => (await toolOf(tree)) !== null,
  plan: planCpp,
}

interface Tool {
  name: 'cmake' | 'meson'
  manifest: string
  packages: string[]
  command: string
  /** The lines that name the project and each of its programs. */
  project: RegExp
  program: RegExp
}

const TOOLS: Tool[] = [
  {
    name: 'cmake',
    manifest: 'CMakeLists.txt',
    packages: ['cmake', 'ninja-build'],
    command: 'cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build build',
    project: /\bproject\s*\(\s*"?([\w.+-]+)/i,
    program:
      /\badd_executable\s*\(\s*"?([\w.+-]+|\$\{(?:CMAKE_)?PROJECT_NAME\})"?\s+(?!IMPORTED\b|ALIAS\b)/gi,
  },
  {
    name: 'meson',
    manifest: 'meson.build',
    packages: ['meson', 'ninja-build'],
    command: 'meson setup build --buildtype=release && ninja -C build',
    project: /\bproject\s*\(\s*'([\w.+-]+)'/,
    program: /\bexecutable\s*\(\s*'([\w.+-]+)'/g,
  },
]

const CACHES = ['/root/.cache']

async function planCpp(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<PlannedBuild> {
  const notes: string[] = []
  const tool = (await toolOf(tree))!
  const place = await choosePlace(tree, whole, notes, { manifests: { [tool.manifest]: EVERY_LINE } })
  const binaries = `${place.directory}/bin`
  // Libraries that the slim image lacks are copied from where the linker found them.
  const libraries = `${place.directory}/lib`
  const programs = await programsOf(tree, tool)
  const isOwnBuild = settings.buildCommand === null
  const program = isOwnBuild ? programs.chosen : null
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal: program === null ? null : { command: `${binaries}/${program}` },
    advice: isOwnBuild ? adviceFor(programs.names) : UNKNOWN_PROGRAM,
    build: () => tool.command,
  })
  const command = isOwnBuild ? `${tool.command} && ${TAKE}` : facts.buildCommand
  const dockerfile = [
    ...buildStage(baseImage(settings, 'buildpack-deps:bookworm')),
    ...installPackages([...tool.packages, ...aptPackages]),
    ...place.source,
    ...buildCommandSteps(command, settings, CACHES),
    ...lastStage(facts, {
      image: baseImage(settings, 'debian:bookworm-slim'),
      packages: aptPackages,
      workdir: place.directory,
      content: [TAKE_CERTIFICATES, takeApp(), `ENV PATH=${binaries}:$PATH LD_LIBRARY_PATH=${libraries}`],
    }),
  ]
  return {
    ...facts,
    packageManager: tool.name,
    dockerfile: textOf(dockerfile),
    manifests: {},
    needsWhole: place.needsWhole,
    ignore: ['.git', 'build'],
    notes: [`C or C++ with ${tool.name}`, ...notes],
  }
}

/** Collects all built programs and the libraries they are linked to, except those of the C library itself. */
const TAKE = `mkdir -p bin lib && find build -type f -executable ! -name "*.so*" ! -path "*/CMakeFiles/*" ! -path "*/meson-private/*" -exec cp {} bin/ ";" && for file in bin/*; do ldd "$file" 2>/dev/null; done | sed -n "s|.*=> \\(/[^ ]*\\) .*|\\1|p" | grep -Ev "/(libc|libm|ld-linux[^/]*|libpthread|libdl|librt|libresolv)[.]so" | sort -u | xargs -r cp -L -t lib`

async function toolOf(tree: Tree): Promise<Tool | null> {
  for (const tool of TOOLS) if (await tree.hasFile(tool.manifest)) return tool
  return null
}

/** Returns the programs named by the root's manifest and by those of the usual source folders. */
async function programsOf(tree: Tree, tool: Tool): Promise<{ names: string[]; chosen: string | null }> {
  const texts = await Promise.all(
    ['', 'src/', 'app/', 'server/'].map((folder) => tree.readText(`${folder}${tool.manifest}`)),
  )
  const text = withoutHashComments(texts.filter((each) => each !== null).join('\n'))
  const project = tool.project.exec(text)?.[1]
  const found = [...text.matchAll(tool.program)].map(([, name]) => (name!.startsWith('$') ? project : name))
  const names = [...new Set(found.filter((name) => name !== undefined && !/tests?$/i.test(name)))] as string[]
  return { names, chosen: onlyProgram(names, project) }
}

/** How many names fit into a message. */
const SHOWN_PROGRAMS = 10

function adviceFor(names: readonly string[]): string {
  return names.length === 0
    ? 'no program was found in its manifests: add a Procfile with a line "web:", such as bin/server'
    : `there are several programs (${names.slice(0, SHOWN_PROGRAMS).join(', ')}): add a Procfile with a line "web:", such as bin/${names[0]}`
}

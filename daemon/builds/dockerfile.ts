import type { Tree } from '../sources/tree.ts'
import { BuildFailure } from './failure.ts'

/** What Docker and Podman call a Dockerfile too; the image of such a one is often that of a developer's tools. */
const OTHER_NAMES = ['dockerfile', 'Containerfile']

/** The Dockerfile that a tree has by another name; null for none. */
export async function otherDockerfile(tree: Tree): Promise<string | null> {
  for (const name of OTHER_NAMES) if (await tree.hasFile(name)) return name
  return null
}

/** Folders in which people keep the Dockerfile of the whole source. */
const OTHER_FOLDERS = ['docker', '.docker', 'build', 'deploy', 'scripts']

/** The Dockerfile in a folder for it, which builds the source around that; null for none. */
export async function dockerfileAside(tree: Tree): Promise<string | null> {
  for (const folder of OTHER_FOLDERS) {
    for (const name of ['Dockerfile', ...OTHER_NAMES]) {
      if (await tree.hasFile(`${folder}/${name}`)) return `${folder}/${name}`
    }
  }
  return null
}

/** A Dockerfile beyond this is none. */
const MAX_DOCKERFILE_BYTES = 1024 * 1024

/** A frontend whose features the engine's own has had since Docker 23; `-labs` variants have more. */
const STANDARD_FRONTEND = /^(docker\.io\/)?docker\/dockerfile:1(\.\d+){0,2}$/

/**
 * A Dockerfile of the tree as the engine should see it: a `# syntax=` line that names the standard frontend is taken
 * out (its line stays, so that numbers in messages hold), because the engine would pull that image before every build.
 * Throws BuildFailure when it is missing, empty or not text.
 */
export async function readDockerfile(
  tree: Tree,
  path: string,
): Promise<{ content: string; notes: string[] }> {
  const isOutside = path === '..' || path.startsWith('../') || path.startsWith('/')
  const content = isOutside ? null : await tree.readText(path, MAX_DOCKERFILE_BYTES)
  if (content === null) {
    throw new BuildFailure(
      `there is no file ${path} in the source: add it, or set dockerfile_path or root_dir to where it is`,
    )
  }
  if (content.includes('\0')) throw new BuildFailure(`${path} is not a text file: give a Dockerfile`)
  if (content.trim() === '') throw new BuildFailure(`${path} is empty: write at least a FROM line`)
  return withoutSyntax(content, path)
}

/** Takes the standard frontend's line out of a Dockerfile's head, and says so. */
export function withoutSyntax(content: string, path: string): { content: string; notes: string[] } {
  const lines = content.split('\n')
  // Directives come before everything else (Dockerfile reference, "Parser directives").
  const end = lines.findIndex((line) => !DIRECTIVE.test(line))
  const head = lines.slice(0, end === -1 ? lines.length : end)
  const at = head.findIndex((line) => {
    const [, key, value] = DIRECTIVE.exec(line)!
    return key!.toLowerCase() === 'syntax' && STANDARD_FRONTEND.test(value!)
  })
  if (at === -1) return { content, notes: [] }
  const [line] = head.splice(at, 1)
  const note = `using the engine's own Dockerfile frontend in place of "${line!.trim()}" in ${path}`
  // The comment that stands for it goes last: a comment ends the directives.
  return { content: [...head, '#', ...lines.slice(head.length + 1)].join('\n'), notes: [note] }
}

const DIRECTIVE = /^\s*#\s*([a-z]+)\s*=\s*(\S+)\s*$/i

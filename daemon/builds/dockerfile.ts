import { BuildFailure, type Tree } from '#plans/index.ts'
import { withoutSyntax } from './syntax.ts'

/** A larger file is not a Dockerfile. */
const MAX_DOCKERFILE_BYTES = 1024 * 1024

/**
 * A Dockerfile of the tree as the engine should see it, whose own Dockerfile frontend has this minor version; see
 * `withoutSyntax`. Throws BuildFailure when the file is missing, empty or not text.
 */
export async function readDockerfile(
  tree: Tree,
  path: string,
  frontend?: number,
): Promise<{ content: string; notes: string[] }> {
  const isOutside = path === '..' || path.startsWith('../') || path.startsWith('/')
  const content = isOutside ? null : await tree.readText(path, MAX_DOCKERFILE_BYTES)
  if (content === null) {
    throw new BuildFailure(
      `there is no file ${path} in the source: add it, or set dockerfile_path or root_dir to where it is`,
    )
  }
  if (content.includes('\0'))
    throw new BuildFailure(`${path} is not a text file: set dockerfile_path to a Dockerfile`)
  if (content.trim() === '') throw new BuildFailure(`${path} is empty: write at least a FROM line`)
  return withoutSyntax(content, path, frontend)
}

import type { Tree } from './tree.ts'

/** Other names that Docker and Podman accept; the image of such a file is often one for development tools. */
const OTHER_NAMES = ['dockerfile', 'Containerfile']

/** Returns a Dockerfile of another name; null for none. */
export async function otherDockerfile(tree: Tree): Promise<string | null> {
  for (const name of OTHER_NAMES) if (await tree.hasFile(name)) return name
  return null
}

/** Folders in which people keep the Dockerfile for the whole source. */
const OTHER_FOLDERS = ['docker', '.docker', 'build', 'deploy', 'scripts']

/** Returns a Dockerfile in such a folder, which builds the source around it; null for none. */
export async function dockerfileAside(tree: Tree): Promise<string | null> {
  for (const folder of OTHER_FOLDERS) {
    for (const name of ['Dockerfile', ...OTHER_NAMES]) {
      if (await tree.hasFile(`${folder}/${name}`)) return `${folder}/${name}`
    }
  }
  return null
}

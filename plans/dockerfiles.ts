import type { Tree } from './tree.ts'

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

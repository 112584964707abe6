import type { Tree } from '../../../sources/tree.ts'
import { findSource } from '../listening.ts'
import { BESIDE, type Modules } from './modules.ts'

const SOURCES = /\.(?:java|kt)$/
/** What starts Spring Boot, in the words of Java and of Kotlin (Spring Boot, "Using the @SpringBootApplication Annotation"). */
const STARTING = /^\s*@SpringBootApplication\b|\bSpringApplication\.run\(|\brunApplication</

/**
 * The folders of the modules whose sources start a program of Spring Boot, for manifests that leave it to a parent to say so;
 * without those that only show the others, where there are any.
 */
export async function startedAmong(tree: Tree, modules: Modules): Promise<string[]> {
  const started: string[] = []
  for (const [folder, manifest] of modules) {
    if (manifest.includes('<packaging>pom</packaging>')) continue
    // Sources that are too many to tell tell nothing.
    if (await findSource(tree, SOURCES, STARTING, `${folder}/src/main`)) started.push(folder)
  }
  const plain = started.filter((folder) => !BESIDE.test(folder))
  return plain.length === 0 ? started : plain
}

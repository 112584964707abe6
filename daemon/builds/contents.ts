import type { Tree } from '../sources/tree.ts'

/** Enough names to recognize the wrong folder. */
const SHOWN_NAMES = 12

/** Describes what a folder of a tree contains; `.` is the root. */
export async function contents(tree: Tree, folder = '.'): Promise<string> {
  const names = await tree.list(folder)
  if (names.length === 0) return 'the empty folder'
  const more = names.length > SHOWN_NAMES ? ', ...' : ''
  return `the folder with ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`
}

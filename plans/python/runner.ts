import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** How many scripts of a Pipfile are read. */
const MAX_SCRIPTS = 50

/**
 * Returns the line of an image that makes `uv run <program>` and the like run a program of the environment: people write
 * commands that way, the programs are on the path anyway, and the tool that installed the packages is not in the image.
 */
export async function runnerStep(tree: Tree, tool: string, environment: string): Promise<string> {
  const scripts = tool === 'pipenv' ? await scriptsOf(tree) : []
  const lines = [
    '#!/bin/sh',
    // The packages are installed.
    'case "$1" in install|sync|lock) exit 0;; run) shift;; esac',
    'while [ "${1#-}" != "$1" ]; do shift; done',
    'case "$1" in',
    ...scripts.map(([name, command]) => `${name}) shift; set -- ${command} "$@";;`),
    '*.py) set -- python "$@";;',
    'esac',
    'exec "$@"',
  ]
  const path = `${environment}/bin/${tool}`
  return `RUN [ -e ${path} ] || { printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} > ${path} && chmod 755 ${path}; }`
}

/** Returns the scripts of a Pipfile that are plain words. */
async function scriptsOf(tree: Tree): Promise<[name: string, command: string][]> {
  const scripts: [string, string][] = []
  let table = ''
  for (const line of linesOf((await tree.readText('Pipfile')) ?? '')) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    const [, name, command] = /^([\w-]+) ?= ?"([\w ./:=@,+-]+)"$/.exec(text) ?? []
    if (table === '[scripts]' && name !== undefined) scripts.push([name, command!])
  }
  return scripts.slice(0, MAX_SCRIPTS)
}

import { linesOf } from '../text.ts'
import type { Tree } from '../tree.ts'

/** As many of a Pipfile's as a person calls. */
const MAX_SCRIPTS = 50

/**
 * The line of an image in which `uv run <program>` and its like run a program of the environment, whose programs are found
 * anyway: commands of people are written so, and the tool that installed the packages is in no image.
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

/** The scripts of a Pipfile, as far as they are plain words. */
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

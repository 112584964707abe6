import { dirname, join } from 'node:path'
import { provideReaderProgram } from '#daemon/reader/reader.ts'
import { provideGitRunner } from '#daemon/sources/git-command.ts'
import { builtServer } from './build.ts'

/** Has the processes that read sources and start git be those of the built server, for tests of what uses them without it. */
export async function useBuiltReader(): Promise<void> {
  const folder = dirname(await builtServer())
  provideReaderProgram(join(folder, 'source-reader.mjs'))
  provideGitRunner(join(folder, 'git-runner.mjs'))
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { NO_SETTINGS, planDirectory, Tree, type BuildPlan, type PlanSettings } from '#plans/index.ts'

/** A source tree on disk, for one plan after another. */
export class PlannedTree {
  readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
  }

  static async make(): Promise<PlannedTree> {
    return new PlannedTree(await mkdtemp(join(tmpdir(), 'plans-')))
  }

  /** Writes exactly these files, and makes the plan for them, or for one of their folders. */
  async plan(
    files: Record<string, string | object>,
    settings: Partial<PlanSettings> = {},
    folder?: string,
    runtime = 'auto',
  ): Promise<BuildPlan> {
    await rm(this.directory, { recursive: true })
    await mkdir(this.directory)
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.directory, name)), { recursive: true })
      const isBytes = typeof content === 'string' || Buffer.isBuffer(content)
      await writeFile(join(this.directory, name), isBytes ? content : JSON.stringify(content))
    }
    const place = join(this.directory, folder ?? '')
    const whole = folder === undefined ? null : { tree: new Tree(this.directory), folder }
    return await planDirectory(runtime, place, { ...NO_SETTINGS, ...settings }, whole)
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
  }
}

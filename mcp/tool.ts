import { z } from 'zod'
import type { Call } from './call.ts'

/** Packs a folder of this machine, uploads it and returns the deploy that this queued, as the API has it. */
export type Upload = (
  folder: string,
  place: { service: string; environment: string | undefined },
  options: { clearCache: boolean; signal: AbortSignal },
) => Promise<unknown>

/** What a tool has while it works on one request. */
export interface ToolContext {
  /** Ends together with the request. */
  call: Call
  signal: AbortSignal
  /** Tells a caller that asked for it how far the work is. */
  progress(done: number, total: number, message: string): Promise<void>
  /** The folder below which folders may be deployed, and how; absent where there are no folders. */
  folders?: { root: string; upload: Upload }
}

/**
 * What a tool may do: `read` changes nothing; `write` adds something, or starts what can be undone; `change` replaces what
 * is there.
 */
export type Effect = 'read' | 'write' | 'change'

/** How an answer that is too long is cut: at the end of an item of one of its lists. */
export interface Cut {
  list: string
  /** The end that has the newest items, which are kept. */
  keep: 'first' | 'last'
  /** What leads to the rest, given what is kept. */
  next: (kept: readonly unknown[]) => string | undefined
}

/** What a tool answers. Only the fields of its `output` leave, whatever else the values hold. */
export interface Made {
  value: Record<string, unknown>
  cut?: Cut
}

interface Facts {
  /** Words in snake case, as hosts show them. */
  name: string
  title: string
  /** For the model: when to use it. At most 300 characters. */
  description: string
  effect: Effect
  /** Whether doing it twice is the same as once, where that does not follow from the effect. */
  idempotent?: boolean
  /** Whether it reaches beyond the server: repositories and registries. */
  openWorld?: true
  /** Only where folders can be read. */
  needsFolders?: true
}

/** A tool with its types erased, as the server lists and runs it. */
export interface Tool extends Facts {
  input: z.ZodObject
  output: z.ZodObject
  run(input: unknown, context: ToolContext): Promise<Made>
}

interface ToolSpec<I extends z.ZodRawShape, O extends z.ZodRawShape> extends Facts {
  input: I
  output: O
  run(input: z.output<z.ZodObject<I>>, context: ToolContext): Promise<Made>
}

/** Defines a tool; there is no other way to do it. Fields that are not declared are refused on the way in and left out on the way out. */
export function defineTool<const I extends z.ZodRawShape, const O extends z.ZodRawShape>(
  spec: ToolSpec<I, O>,
): Tool {
  return {
    ...spec,
    input: z.strictObject(spec.input),
    output: z.object(spec.output),
    run: (input, context) => spec.run(input as z.output<z.ZodObject<I>>, context),
  }
}

/** The four hints of a tool, by which hosts decide what to ask their user about. */
export function hintsOf({ effect, idempotent, openWorld }: Facts): Record<string, boolean> {
  return {
    readOnlyHint: effect === 'read',
    destructiveHint: effect === 'change',
    idempotentHint: idempotent ?? effect === 'read',
    openWorldHint: openWorld === true,
  }
}

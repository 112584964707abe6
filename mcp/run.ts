import type { CallToolResult } from '@modelcontextprotocol/server'
import { checkedArguments } from './arguments.ts'
import { bounded, cutText, MAX_ANSWER_BYTES, tidy } from './bounds.ts'
import { ToolFault, type Call } from './call.ts'
import { meant, type Named } from './places.ts'
import type { Tool, ToolContext } from './tool.ts'

/** Runs a tool. What goes wrong is an answer too, which the model reads and can act on. */
export async function runTool(tool: Tool, given: unknown, context: ToolContext): Promise<CallToolResult> {
  try {
    const input = checkedArguments(tool.input, given)
    const { value, cut } = await tool.run(input, context)
    return answerOf(bounded({ value: shaped(tool, value), ...(cut ? { cut } : {}) }))
  } catch (error) {
    const hint = await hintFor(error, given, context.call)
    const text = cutText(tidy(faultText(error) + hint), MAX_ANSWER_BYTES)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** What may leave of an answer. */
function shaped({ name, output }: Tool, value: Record<string, unknown>): Record<string, unknown> {
  const read = output.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new ToolFault(
    'unexpected_answer',
    `${name} got ${issue?.path.join('.')} in another form than it knows`,
  )
}

/** The same twice: as an object, and as text for hosts that know no objects. */
function answerOf(value: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

/** As the API's errors have codes, those of the command line do. Errors of node have others, which say less than the message. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[a-z_]+$/.test(code) ? `${code}: ${error.message}` : error.message
}

async function hintFor(error: unknown, given: unknown, call: Call): Promise<string> {
  if (!(error instanceof ToolFault) || error.code !== 'not_found') return ''
  // A hint that cannot be given must not hide the fault.
  return meant(namedIn((given ?? {}) as Record<string, string | undefined>), call).catch(() => '')
}

/** What the arguments name. `name` is a service's or a datastore's in the tool that reads logs. */
function namedIn({ of, name, ...named }: Record<string, string | undefined>): Named {
  if (of === 'service') return { ...named, service: name }
  return of === 'datastore' ? { ...named, datastore: name } : named
}
